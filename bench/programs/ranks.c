/* A ring of any number of ranks: each puts to the next between two fences, and all reduce.
 *
 *   ranks STEPS */
#include "measure.h"

enum { DOUBLES = 1024 };

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2) {
    fprintf(stderr, "usage: mpirun -n RANKS ranks STEPS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int steps = atoi(argv[1]);
  static double out[DOUBLES];
  double *memory, sum = 0;
  MPI_Win window;
  MPI_Win_allocate(sizeof out, sizeof *out, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  for (int i = 0; i < DOUBLES; i++) memory[i] = rank;
  MPI_Win_fence(0, window);

  const double begin = MPI_Wtime();
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < DOUBLES; i++) out[i] = memory[i] + 1;
    MPI_Win_fence(0, window);
    MPI_Put(out, DOUBLES, MPI_DOUBLE, (rank + 1) % ranks, 0, DOUBLES, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Allreduce(&memory[step % DOUBLES], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  print_measured((MPI_Wtime() - begin) / steps);

  /* The ranks' numbers go round, and grow by one each step. */
  const double expected = ranks * (ranks - 1) / 2.0 + (double)ranks * steps;
  if (sum != expected) fprintf(stderr, "rank %d: %g instead of %g\n", rank, sum, expected);
  MPI_Win_free(&window);
  MPI_Finalize();
  return sum == expected ? 0 : 1;
}
