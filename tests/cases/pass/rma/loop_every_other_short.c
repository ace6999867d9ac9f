// A loop writes every other element of a window, while somebody puts those in between.
//# flags: -O2
#include <mpi.h>
#include <stdio.h>

enum { N = 800 };

static void write(short *values) {
  for (int i = 0; i < N; i += 2)
    values[i] = 3;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  short *window;
  MPI_Win win;
  MPI_Win_allocate(N * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < N; i++) window[i] = 1;
  MPI_Barrier(MPI_COMM_WORLD);

  static short out[N / 2];
  MPI_Datatype odd;
  MPI_Type_vector(N / 2, 1, 2, MPI_SHORT, &odd);
  MPI_Type_commit(&odd);
  write(window);
  MPI_Put(out, N / 2, MPI_SHORT, peer, 1, 1, odd, win);
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  int right = window[0] == 3 && window[1] == 0 && window[N - 2] == 3 && window[N - 1] == 0;
  MPI_Win_unlock_all(win);

  MPI_Type_free(&odd);
  MPI_Win_free(&win);
  MPI_Finalize();
  return right ? 0 : 1;
}
