// Buffered sends with memory enough, and of nothing without.
//# np: 2
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int rank, size = 4 * sizeof(double) + MPI_BSEND_OVERHEAD;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double line[4] = {rank};
  void *memory = malloc(size), *more = malloc(size);
  MPI_Bsend(line, 4, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Buffer_attach(memory, size);
  MPI_Bsend(line, 4, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Buffer_detach(&memory, &size);
  MPI_Buffer_attach(more, size);
  MPI_Bsend(line, 4, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
  MPI_Recv(line, 4, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&more, &size);
  MPI_Finalize();
  free(memory);
  free(more);
  return 0;
}
