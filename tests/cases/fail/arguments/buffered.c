// Buffered sends for which there is no memory, or too little, which Open MPI does not mind.
//# np: 2
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int rank, size = sizeof(double) + MPI_BSEND_OVERHEAD;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double line[4] = {rank};
  void *memory = malloc(size), *more = malloc(size);
  MPI_Bsend(line, 4, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD); //~ CS-ARG-01 operation ranks=0,1
  MPI_Buffer_attach(memory, size);
  MPI_Bsend(line, 4, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD); //~ CS-ARG-01 operation ranks=0,1
  MPI_Buffer_attach(more, size); //~ CS-ARG-01 operation ranks=0,1
  MPI_Buffer_detach(&memory, &size);
  MPI_Finalize();
  free(memory);
  free(more);
  return 0;
}
