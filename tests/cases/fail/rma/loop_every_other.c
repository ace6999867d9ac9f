// A loop writes every other element of a window, of which somebody puts one.
//# flags: -O2
#include <mpi.h>
#include <stdio.h>

enum { N = 800 };

static void write(double *values) {
  for (int i = 0; i < N; i += 2)
    values[i] = 3; //~ CS-RMA-03 access
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  double *window;
  MPI_Win win;
  MPI_Win_allocate(N * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < N; i++) window[i] = 1;
  MPI_Barrier(MPI_COMM_WORLD);

  static double out[N / 2];
  int result = 0;
  MPI_Datatype odd;
  MPI_Type_vector(N / 2, 1, 2, MPI_DOUBLE, &odd);
  MPI_Type_commit(&odd);
  write(window);
  MPI_Put(out, 1, MPI_DOUBLE, peer, 100, 1, MPI_DOUBLE, win); //~ CS-RMA-03 operation
  MPI_Win_flush_all(win);
  MPI_Win_unlock_all(win);

  printf("%g\n", (double)result);
  MPI_Type_free(&odd);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
