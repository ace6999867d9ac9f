// Two ranks wait for nonblocking barriers of two communicators in crossing order.
//# np: 2
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Request request;
  MPI_Ibarrier(rank == 0 ? MPI_COMM_WORLD : copy, &request); //~ CS-DLK-01 operation
  MPI_Wait(&request, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
  MPI_Ibarrier(rank == 0 ? copy : MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}
