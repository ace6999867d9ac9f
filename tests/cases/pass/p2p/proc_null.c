// Communication with MPI_PROC_NULL touches no buffer.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int buffer[16] = {0};
  MPI_Request requests[3];
  MPI_Irecv(buffer, 16, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(buffer, 16, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Recv_init(buffer, 16, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Start(&requests[2]);
  buffer[0] = 7;
  buffer[1] = buffer[0];
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[2]);

  MPI_Finalize();
  return buffer[1] == 7 ? 0 : 1;
}
