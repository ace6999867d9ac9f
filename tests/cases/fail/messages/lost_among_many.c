// Three ranks send to one, which receives two messages from anybody.
//# np: 4
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (rank > 0) {
    MPI_Send(&value, 1, MPI_INT, 0, 0, copy); //~ CS-MSG-02 operation ranks=1,2,3
  } else {
    for (int i = 0; i < 2; i++) {
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, MPI_STATUS_IGNORE);
    }
  }
  MPI_Barrier(copy);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}
