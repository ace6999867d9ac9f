// A rank answers before it receives a message if a later one has come, for then that one has been
// buffered.
#include <mpi.h>
#include <unistd.h>

enum { FIRST, SECOND, ANSWER };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, first = 0, second = 0, answer = 0, is_there = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    first = 1, second = 2;
    MPI_Send(&first, 1, MPI_INT, 0, FIRST, MPI_COMM_WORLD);
    MPI_Send(&second, 1, MPI_INT, 0, SECOND, MPI_COMM_WORLD);
    MPI_Recv(&answer, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Request request;
    answer = 3;
    MPI_Irecv(&second, 1, MPI_INT, 1, SECOND, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 1000 && !is_there; i++) {
      MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
      usleep(100);
    }
    if (is_there) {
      MPI_Send(&answer, 1, MPI_INT, 1, ANSWER, MPI_COMM_WORLD);
      MPI_Recv(&first, 1, MPI_INT, 1, FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&first, 1, MPI_INT, 1, FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Send(&answer, 1, MPI_INT, 1, ANSWER, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return first == 1 && second == 2 && answer == 3 ? 0 : 1;
}
