// Messages that are found for one receive alone are received by it, blocking or not, and one is
// from nowhere.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 3, found = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Send(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
  } else {
    MPI_Message message, other;
    MPI_Request request;
    MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    while (!found) {
      MPI_Improbe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &found, &other, MPI_STATUS_IGNORE);
    }
    MPI_Mrecv(&value, 1, MPI_INT, &other, MPI_STATUS_IGNORE);
    MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Mprobe(0, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return value == 3 ? 0 : 1;
}
