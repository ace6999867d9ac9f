/* Rank 0 reads the input, all receive it, all decide alike. */
#include <stdio.h>
#include <mpi.h>

struct input {
  int steps;
  double width;
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  struct input input = {0};
  if (rank == 0 && argc > 1) {
    FILE *file = fopen(argv[1], "r");
    if (file && fscanf(file, "%d %lf", &input.steps, &input.width) != 2) input.steps = 1;
  }
  MPI_Bcast(&input, sizeof input, MPI_BYTE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < input.steps; i++) MPI_Barrier(MPI_COMM_WORLD);
  if (input.width > 1) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
