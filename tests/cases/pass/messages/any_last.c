// One place for the messages of two ranks, where it does not matter, or is known, which was last.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong = 0, value = 0, parts[2] = {7, 0};
  MPI_Status status;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    // All send the same.
    for (int i = 0; i < 2; i++) {
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    wrong |= value != 7;
    // The part that is read is the same.
    for (int i = 0; i < 2; i++) {
      MPI_Irecv(parts, 2, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    wrong |= parts[0] != 7;
    // Whose message it is is known.
    for (int i = 0; i < 2; i++) {
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
    }
    wrong |= value != status.MPI_SOURCE;
    // What is there is not used.
    for (int i = 0; i < 2; i++) {
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    value = 5;
    wrong |= value != 5;
    // The first has been received before the second could be sent.
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 0, MPI_INT, 2, 6, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong |= value != 2;
  } else {
    parts[1] = rank;
    MPI_Send(&parts[0], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Send(parts, 2, MPI_INT, 0, 2, MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    if (rank == 2) {
      MPI_Recv(&value, 0, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return wrong;
}
