// Differences, some negative, are received as unsigned integers, by message and by broadcast.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int difference[2] = {-3, 4};
  unsigned count[2] = {0};
  if (rank == 0) {
    MPI_Send(difference, 2, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-MSG-01 operation
  } else {
    MPI_Recv(count, 2, MPI_UNSIGNED, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-MSG-01 access ranks=1
  }
  void *values = rank == 0 ? (void *)difference : (void *)count;
  MPI_Datatype type = rank == 0 ? MPI_INT32_T : MPI_UINT32_T;
  MPI_Bcast(values, 2, type, 0, MPI_COMM_WORLD); //~ CS-COL-04 access //~ CS-COL-04 operation
  MPI_Finalize();
  return 0;
}
