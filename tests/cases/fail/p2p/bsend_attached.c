// Memory that is attached for buffered sends is used while it is.
//# np: 2
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static volatile int spare;

int main(int argc, char **argv) {
  int rank, size = 4096 + MPI_BSEND_OVERHEAD, wrong = 0, values[64], got[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int other = 1 - rank;
  for (int i = 0; i < 64; i++) values[i] = i;

  char *lent = malloc(size), *own = malloc(size);
  MPI_Buffer_attach(lent, size); //~ CS-BUF-08 operation
  MPI_Bsend(values, 64, MPI_INT, other, 0, MPI_COMM_WORLD);
  memset(lent + 2048, 1, 1024); //~ CS-BUF-08 access
  spare = lent[4000]; //~ CS-BUF-08 access
  MPI_Recv(got, 64, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(values, 4, MPI_INT, other, 2, lent + 3072, 4, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-BUF-08 access
  MPI_Buffer_detach(&(char *){NULL}, &(int){0});
  free(lent);
  free(own);
  for (int i = 0; i < 64; i++) wrong += got[i] != i;
  MPI_Finalize();
  return wrong;
}
