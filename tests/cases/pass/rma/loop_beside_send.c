// A loop writes a part of a window beside elements that are being sent, and beside one that
// somebody puts.
//# flags: -O2
#include <mpi.h>
#include <stdio.h>

enum { N = 300, SENT = 100 };

static void fill(double *values, int n) {
  for (int i = 0; i < n; i++)
    values[i] = i;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  double *window, out = 7, in[SENT];
  MPI_Request request;
  MPI_Win win;
  MPI_Win_allocate(N * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < N; i++) window[i] = 1;
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Isend(&window[N - SENT], SENT, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &request);
  fill(window, N - SENT - 1);
  MPI_Put(&out, 1, MPI_DOUBLE, peer, N - SENT - 1, 1, MPI_DOUBLE, win);
  MPI_Recv(in, SENT, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(win);

  int right = in[0] == 1 && in[SENT - 1] == 1 && window[N - SENT - 2] == N - SENT - 2;
  MPI_Win_free(&win);
  MPI_Finalize();
  return right ? 0 : 1;
}
