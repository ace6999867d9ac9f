// Memory that was attached to a communicator or a session is used when it is detached, or the
// communicator is freed.
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

  MPI_Comm_attach_buffer(comm, lent, size);
  MPI_Comm_attach_buffer(short_lived, also, size);
  MPI_Bsend(values, 64, MPI_INT, other, 0, comm);
  MPI_Bsend(values, 64, MPI_INT, other, 0, short_lived);
  MPI_Recv(got, 64, MPI_INT, other, 0, comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < 64; i++) wrong |= got[i] != i;
  MPI_Recv(got, 64, MPI_INT, other, 0, short_lived, MPI_STATUS_IGNORE);
  void *address;
  int length;
  MPI_Comm_detach_buffer(comm, &address, &length);
  memset(lent + 3000, 1, 512);
  wrong |= address != lent || length != size;
  MPI_Comm_free(&short_lived);
  free(also);

  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Session_attach_buffer(session, third, size);
  MPI_Session_detach_buffer(session, &address, &length);
  memset(third + 3000, 1, 512);
  MPI_Session_finalize(&session);
  MPI_Comm_free(&comm);
  free(lent);
  free(third);
  MPI_Finalize();
  return wrong;
}
