// Receives posted in reserve are cancelled and completed at the end; their buffers are reused.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int slots[3][8];
  MPI_Request requests[3];
  for (int i = 0; i < 3; i++) {
    MPI_Irecv(slots[i], 8, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 3; i++) {
    int flag;
    MPI_Status status;
    MPI_Cancel(&requests[i]);
    MPI_Wait(&requests[i], &status);
    MPI_Test_cancelled(&status, &flag);
    slots[i][0] = flag;
  }

  MPI_Finalize();
  return slots[0][0] + slots[1][0] + slots[2][0] == 3 ? 0 : 1;
}
