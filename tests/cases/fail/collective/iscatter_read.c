// A process reads its part before the scatter completed; the root's own part is in place.
#include <mpi.h>
#include <stdio.h>

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
  MPI_Iscatter(all, 8, MPI_INT, to, 8, MPI_INT, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation ranks=1
  if (rank == 0) {
    mine = 0;
  } else {
    mine = part[0]; //~ CS-BUF-02 access ranks=1
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", mine == 8 * rank ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
