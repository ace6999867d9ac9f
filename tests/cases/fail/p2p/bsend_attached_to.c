// Memory that is attached to a communicator or a session for buffered sends is used or released
// while it is.
//# needs: MPI_Comm_attach_buffer MPI_Session_attach_buffer
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  int rank, size = 4096 + MPI_BSEND_OVERHEAD, wrong = 0, values[64], got[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int other = 1 - rank;
  for (int i = 0; i < 64; i++) values[i] = i;
  MPI_Comm comm, short_lived;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &short_lived);
  char *lent = malloc(size), *also = malloc(size), *third = malloc(size);

  MPI_Comm_attach_buffer(comm, lent, size); //~ CS-BUF-08 operation
  MPI_Comm_attach_buffer(short_lived, also, size); //~ CS-BUF-05 operation
  MPI_Bsend(values, 64, MPI_INT, other, 0, comm);
  MPI_Bsend(values, 64, MPI_INT, other, 0, short_lived);
  MPI_Recv(got, 64, MPI_INT, other, 0, comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < 64; i++) wrong |= got[i] != i;
  MPI_Recv(got, 64, MPI_INT, other, 0, short_lived, MPI_STATUS_IGNORE);
  void *address;
  int length;
  memset(lent + 3000, 1, 512); //~ CS-BUF-08 access
  MPI_Comm_detach_buffer(comm, &address, &length);
  wrong |= address != lent || length != size;
  free(also); //~ CS-BUF-05 release
  MPI_Comm_detach_buffer(short_lived, &address, &length);
  MPI_Comm_free(&short_lived);

  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Session_attach_buffer(session, third, size); //~ CS-BUF-08 operation
  memset(third + 3000, 1, 512); //~ CS-BUF-08 access
  MPI_Session_detach_buffer(session, &address, &length);
  MPI_Session_finalize(&session);
  MPI_Comm_free(&comm);
  free(lent);
  free(third);
  MPI_Finalize();
  return wrong;
}
