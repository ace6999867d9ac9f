//# np: 2
// Goes well as long as the root does not wait for the other.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int n = 7;
  double x[100] = {0};
  if (rank == 0) {
    x[0] = 3;
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-DLK-02 wait
    MPI_Send(x, 100, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD); //~ CS-DLK-02 operation
  } else {
    MPI_Recv(x, 100, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-02 wait
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-DLK-02 operation
  }
  MPI_Finalize();
  return x[0] != 3;
}
