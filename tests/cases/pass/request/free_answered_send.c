// An answer says that a send is complete; its request may be freed afterwards (MPI 4.1 §3.7.3).
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int question = 1, answer;
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(&question, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Recv(&answer, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    question = 2;
  } else {
    MPI_Recv(&question, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&question, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }

  MPI_Finalize();
  return 0;
}
