/* The last rank of a communicator, and the size of one as a rank of another. */
#include <mpi.h>

static int data[8];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int size, own;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_size(MPI_COMM_SELF, &own);
  MPI_Bcast(data, 8, MPI_INT, size - 1, MPI_COMM_WORLD);
  if (size > 1)
    MPI_Send(data, 8, MPI_INT, own, 0, MPI_COMM_WORLD);
  size--;
  MPI_Send(data, 8, MPI_INT, size, 0, MPI_COMM_WORLD);
  MPI_Finalize();
}
