// A process reads its part after the scatter completed; the root reads its buffer any time.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int all[16], part[8], mine;
  for (int i = 0; i < 16; i++) {
    all[i] = i;
  }
  MPI_Request request;
  void *to = rank == 0 ? MPI_IN_PLACE : part;
  MPI_Iscatter(all, 8, MPI_INT, to, 8, MPI_INT, 0, MPI_COMM_WORLD, &request);
  if (rank == 0) {
    mine = all[0];
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    mine = part[0];
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return mine == 8 * rank ? 0 : 1;
}
