// All ranks name one root, as it is called in the communicator.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int step = rank == 2 ? 17 : 0, writer = 2;
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  int mine;
  MPI_Comm_rank(reversed, &mine);
  MPI_Bcast(&step, 1, MPI_INT, mine ? 2 - writer : 0, reversed);
  if (step != 17) return 1;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  return 0;
}
