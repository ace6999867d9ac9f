// Requests of flushes are lost, and a buffer that is flushed is used although it is attached.
//# needs: MPI_Buffer_flush MPI_Buffer_iflush MPI_Comm_flush_buffer MPI_Comm_iflush_buffer
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank, size = 4096 + MPI_BSEND_OVERHEAD, wrong = 0, value = 7, got = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int other = 1 - rank;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  char *lent = malloc(size), *of_comm = malloc(size);
  MPI_Buffer_attach(lent, size); //~ CS-BUF-08 operation
  MPI_Comm_attach_buffer(comm, of_comm, size);
  MPI_Request requests[2];
  for (int round = 0; round < 2; round++) {
    MPI_Bsend(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    MPI_Bsend(&value, 1, MPI_INT, other, 0, comm);
    MPI_Recv(&got, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong |= got != 7;
    MPI_Recv(&got, 1, MPI_INT, other, 0, comm, MPI_STATUS_IGNORE);
    wrong |= got != 7;
    if (round == 0) {
      MPI_Buffer_flush();
      MPI_Comm_flush_buffer(comm);
    } else {
      MPI_Buffer_iflush(&requests[0]); //~ CS-REQ-01 operation
      MPI_Comm_iflush_buffer(comm, &requests[1]); //~ CS-REQ-01 operation
    }
  }
  lent[4000] = 1; //~ CS-BUF-08 access
  void *address;
  int length;
  MPI_Buffer_detach(&address, &length);
  MPI_Comm_detach_buffer(comm, &address, &length);
  MPI_Comm_free(&comm);
  free(lent);
  free(of_comm);
  MPI_Finalize();
  return wrong;
}
