// Readers lock shared, as they may, but the writer, too.
//# np: 4
#include <mpi.h>
#include <stdio.h>

enum { N = 8 };

static void visit(int write, long *data, MPI_Win win) {
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  write ? MPI_Put(data, N, MPI_LONG, 0, 0, N, MPI_LONG, win) : MPI_Get(data, N, MPI_LONG, 0, 0, N, MPI_LONG, win); //~ CS-RMA-04 access ranks=0 //~ CS-RMA-04 operation ranks=0
  MPI_Win_unlock(0, win);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static long window[N], data[N];
  int right = 1;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  for (int round = 1; rank > 0 && round <= 5; round++) {
    for (int i = 0; rank == 1 && i < N; i++) data[i] = round;
    visit(rank == 1, data, win);
    right &= data[0] == data[N - 1];
  }

  printf("%d\n", right);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
