// Receives are posted, and their senders know, before ready sends of all kinds are started.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 4, values[3] = {0, 0, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request requests[3];
  if (rank == 0) {
    MPI_Irecv(&values[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv_init(&values[2], 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Start(&requests[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[2]);
    MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rsend(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Irsend(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Rsend_init(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return rank == 0 && (values[0] != 4 || values[1] != 4 || values[2] != 4);
}
