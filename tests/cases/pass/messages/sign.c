// The corrected twin of fail/messages/sign.c; types of the same sign fit under any of their names.
//# np: 2
#include <mpi.h>
#include <stdint.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int difference[2] = {0};
  uint64_t count[2] = {0};
  if (rank == 0) {
    difference[0] = -3;
    difference[1] = 4;
    count[1] = 7;
    MPI_Send(difference, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(difference, 2, MPI_INT32_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Datatype type = rank == 0 ? MPI_UINT64_T : MPI_UNSIGNED_LONG;
  MPI_Bcast(count, 2, type, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return difference[0] != -3 || difference[1] != 4 || count[1] != 7;
}
