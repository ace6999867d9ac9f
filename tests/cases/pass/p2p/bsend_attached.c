// The same with memory of its own, and given back before it is released.
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
  MPI_Buffer_attach(lent, size);
  MPI_Bsend(values, 64, MPI_INT, other, 0, MPI_COMM_WORLD);
  memset(own + 2048, 1, 1024);
  spare = own[4000];
  MPI_Recv(got, 64, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(values, 4, MPI_INT, other, 2, own + 3072, 4, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&(char *){NULL}, &(int){0});
  free(lent);
  free(own);
  for (int i = 0; i < 64; i++) wrong += got[i] != i;
  MPI_Finalize();
  return wrong;
}
