/* The size of a communicator, where a rank of it is wanted. */
#include <mpi.h>

static int data[8];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int size, last;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  last = size;
  MPI_Bcast(data, 8, MPI_INT, size, MPI_COMM_WORLD); //~ CS-ARG-01 operation
  MPI_Send(data, 8, MPI_INT, last, 0, MPI_COMM_WORLD); //~ CS-ARG-01 operation
  MPI_Finalize();
}
