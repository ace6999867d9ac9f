// Which of two messages comes first decides what is received next: if it is rank 1's second, its
// first has been buffered.
//# np: 3
#include <mpi.h>
#include <unistd.h>

enum { FIRST, SECOND, ANSWER, OTHER };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, first = 1, second = 2, other = 3, answer = 4, came;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    MPI_Send(&first, 1, MPI_INT, 0, FIRST, MPI_COMM_WORLD);
    MPI_Send(&second, 1, MPI_INT, 0, SECOND, MPI_COMM_WORLD);
    MPI_Recv(&answer, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 2) {
    usleep(200000);
    MPI_Send(&other, 1, MPI_INT, 0, OTHER, MPI_COMM_WORLD);
  } else {
    MPI_Request requests[2];
    first = second = other = 0;
    MPI_Irecv(&second, 1, MPI_INT, 1, SECOND, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&other, 1, MPI_INT, 2, OTHER, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitany(2, requests, &came, MPI_STATUS_IGNORE);
    if (came == 0) {
      MPI_Send(&answer, 1, MPI_INT, 1, ANSWER, MPI_COMM_WORLD);
      MPI_Recv(&first, 1, MPI_INT, 1, FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&first, 1, MPI_INT, 1, FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&answer, 1, MPI_INT, 1, ANSWER, MPI_COMM_WORLD);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Finalize();
  return first == 1 && second == 2 && other == 3 && answer == 4 ? 0 : 1;
}
