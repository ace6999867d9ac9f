// In an array of MPI_DOUBLE_INT pairs the index of a pending maximum is set.
#include <mpi.h>

typedef struct {
  double value;
  int rank;
  int spare;
} located;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static located mine[3], best[3];
  for (int i = 0; i < 3; i++) {
    mine[i].value = i + rank;
    mine[i].rank = rank;
  }
  MPI_Request request;
  MPI_Iallreduce(mine, best, 3, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD, &request); //~ CS-BUF-03 operation
  for (int i = 0; i < 3; i++) {
    best[i].rank = -1; //~ CS-BUF-03 access
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
