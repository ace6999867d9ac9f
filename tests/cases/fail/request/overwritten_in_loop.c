// One request variable for all sends of a loop: only the last send is ever completed.
#include <mpi.h>

enum { STEPS = 3 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int out[STEPS], in[STEPS];
  for (int i = 0; i < STEPS; i++) {
    out[i] = i + 1;
  }
  MPI_Request request;
  for (int i = 0; i < STEPS; i++) {
    MPI_Issend(&out[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &request); //~ CS-REQ-02 operation //~ CS-REQ-02 overwrite
  }
  for (int i = 0; i < STEPS; i++) {
    MPI_Recv(&in[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
