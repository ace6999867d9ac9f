// MPI_DOUBLE_INT does not cover the padding behind the int, which may be used.
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
  MPI_Iallreduce(mine, best, 3, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 3; i++) {
    mine[i].spare = i;
    best[i].spare = i;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return best[2].rank == 1 && best[2].value == 3 && best[2].spare == 2 ? 0 : 1;
}
