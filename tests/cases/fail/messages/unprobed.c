// One message is found and received, another one beside it is lost.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 3;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    for (int i = 0; i < 2; i++)
      MPI_Send(&value, 1, MPI_INT, 1, i, MPI_COMM_WORLD); //~ CS-MSG-02 operation ranks=0
  } else {
    MPI_Message message;
    MPI_Mprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
