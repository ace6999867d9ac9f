/* The root leaves without the broadcast if it cannot open the file, and the caller goes on. */
#include <mpi.h>
#include <stdio.h>

static int load(const char *path, int rank, double *x) {
  if (rank == 0) { //~ CS-COL-01 cause possible
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    *x = fgetc(file);
    fclose(file);
  }
  MPI_Bcast(x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-COL-01 access possible
  return 0;
}

static int start(const char *path, int rank, double *x) {
  if (load(path, rank, x) < 0) return 2; //~ CS-COL-01 cause possible
  MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-01 access possible
  return 0;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double x = 0;
  if (start(argv[0], rank, &x)) {
    fprintf(stderr, "rank %d: cannot read %s\n", rank, argv[0]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
