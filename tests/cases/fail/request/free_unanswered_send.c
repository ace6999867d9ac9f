// The request of a send is freed and the buffer written before any message can tell of its end.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int question = 1, answer;
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(&question, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation ranks=0
    MPI_Request_free(&request);
    question = 2; //~ CS-BUF-01 access ranks=0
    MPI_Recv(&answer, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&question, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&question, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }

  MPI_Finalize();
  return 0;
}
