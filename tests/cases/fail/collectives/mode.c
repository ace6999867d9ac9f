// A nonblocking barrier does not match a blocking one.
//# np: 3
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request request;
  if (rank == 1) {
    MPI_Ibarrier(MPI_COMM_WORLD, &request); //~ CS-COL-01 operation
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-01 access
  }
  MPI_Finalize();
  return 0;
}
