// An operation with a request between two fences.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int field[4], out[2];
  MPI_Win win;
  MPI_Request request;
  MPI_Win_create(field, sizeof field, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win); //~ CS-WIN-01 operation
  MPI_Rput(out, 2, MPI_INT, 1 - rank, 0, 2, MPI_INT, win, &request); //~ CS-WIN-01 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
