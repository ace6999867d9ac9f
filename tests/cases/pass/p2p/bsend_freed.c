// Memory that is attached for buffered sends is released when it was given back, and may be a
// variable.
//# np: 2
//# mpi: openmpi
#include <mpi.h>
#include <stdlib.h>

static void lend(void) {
  char lent[4096];
  MPI_Buffer_attach(lent, sizeof lent);
  MPI_Buffer_detach(&(char *){NULL}, &(int){0});
}

int main(int argc, char **argv) {
  int rank, size = 4096 + MPI_BSEND_OVERHEAD, wrong = 0, values[64], got[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int other = 1 - rank;
  for (int i = 0; i < 64; i++) values[i] = i;

  char *lent = malloc(size);
  MPI_Buffer_attach(lent, size);
  MPI_Bsend(values, 64, MPI_INT, other, 3, MPI_COMM_WORLD);
  MPI_Recv(got, 64, MPI_INT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&(char *){NULL}, &(int){0});
  free(lent);
  lend();

  for (int i = 0; i < 64; i++) wrong += got[i] != i;
  MPI_Finalize();
  return wrong;
}
