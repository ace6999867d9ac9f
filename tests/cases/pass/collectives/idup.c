// Ranks name the same root on a copy of a communicator that was made beside other work.
//# np: 2
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Bcast(&value, 1, MPI_INT, 0, copy);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}
