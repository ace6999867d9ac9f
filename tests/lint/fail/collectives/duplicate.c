/* The communicator is a duplicate of all ranks, kept in a structure. */
#include <mpi.h>

struct solver {
  int steps;
  MPI_Comm comm;
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  struct solver solver;
  MPI_Comm_dup(MPI_COMM_WORLD, &solver.comm);
  if (rank == 0) //~ CS-COL-01 cause
    MPI_Barrier(solver.comm); //~ CS-COL-01 access
  MPI_Comm_free(&solver.comm);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
