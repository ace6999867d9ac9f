//# np: 2
// Sends are waited for before their receives are posted: of MPI_Isend, and of a persistent request.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int other = 1 - rank, in[2] = {0}, out[2] = {rank, rank + 10};
  MPI_Request sends[2], again;
  MPI_Isend(&out[0], 1, MPI_INT, other, 0, MPI_COMM_WORLD, &sends[0]);
  MPI_Wait(&sends[0], MPI_STATUS_IGNORE); //~ CS-DLK-03 wait
  MPI_Recv(&in[0], 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-03 operation
  MPI_Send_init(&out[1], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &again);
  MPI_Start(&again);
  MPI_Wait(&again, MPI_STATUS_IGNORE); //~ CS-DLK-03 wait
  MPI_Recv(&in[1], 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-03 operation
  MPI_Request_free(&again);
  MPI_Finalize();
  return in[0] != other || in[1] != other + 10;
}
