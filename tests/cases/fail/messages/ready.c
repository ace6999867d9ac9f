// Ready sends to receives that nobody can know to be posted.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 4, values[2] = {1, 2};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request request;
  if (rank == 0) {
    MPI_Irecv(&values[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-MSG-04 access
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int tag = 0; tag < 2; tag++) {
      MPI_Rsend(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD); //~ CS-MSG-04 operation count=1
    }
  }
  MPI_Finalize();
  return 0;
}
