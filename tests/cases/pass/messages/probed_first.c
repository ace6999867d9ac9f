// The order of two receives depends on whether the second message is there, for then the first has
// been buffered.
#include <mpi.h>
#include <unistd.h>

enum { FIRST, SECOND };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, first = 0, second = 0, is_there = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    first = 1, second = 2;
    MPI_Send(&first, 1, MPI_INT, 0, FIRST, MPI_COMM_WORLD);
    MPI_Send(&second, 1, MPI_INT, 0, SECOND, MPI_COMM_WORLD);
  } else {
    for (int i = 0; i < 1000 && !is_there; i++) {
      MPI_Iprobe(1, SECOND, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
      usleep(100);
    }
    if (is_there) {
      MPI_Recv(&second, 1, MPI_INT, 1, SECOND, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(&first, 1, MPI_INT, 1, FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&first, 1, MPI_INT, 1, FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(&second, 1, MPI_INT, 1, SECOND, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Finalize();
  return first == 1 && second == 2 ? 0 : 1;
}
