/* Only the root opens the file; if it cannot, the caller of the caller ends the job for all. */
#include <mpi.h>
#include <stdio.h>

static int load(const char *path, int rank, double *x) {
  if (rank == 0) {
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    *x = fgetc(file);
    fclose(file);
  }
  MPI_Bcast(x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return 0;
}

static int start(const char *path, int rank, double *x) {
  if (load(path, rank, x) < 0) return 2;
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double x = 0;
  if (start(argv[0], rank, &x)) {
    fprintf(stderr, "rank %d: cannot read %s\n", rank, argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
