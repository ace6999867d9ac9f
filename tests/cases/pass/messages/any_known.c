// Receives that name their sources after receives from anybody, and do not take each other's
// messages.
//# np: 3
#include <mpi.h>
#include <string.h>
#include <unistd.h>

static MPI_Comm comm;
static int rank;

// Both send; the program acts upon what it has got.
static int by_status(void) {
  int first = 0, second = 0;
  MPI_Status status, copy;
  if (rank == 0) {
    MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &status);
    memcpy(&copy, &status, sizeof copy);
    MPI_Recv(&second, 1, MPI_INT, 3 - copy.MPI_SOURCE, 1, comm, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(&rank, 1, MPI_INT, 0, 1, comm);
  }
  return rank == 0 && first + second != 3;
}

static int by_content(void) {
  int first = 0, second = 0;
  if (rank == 0) {
    MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, MPI_STATUS_IGNORE);
    MPI_Recv(&second, 1, MPI_INT, first == 1 ? 2 : 1, 2, comm, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(&rank, 1, MPI_INT, 0, 2, comm);
  }
  return rank == 0 && first + second != 3;
}

// Rank 1 sends when it has been told that the other message is there.
static int by_answer(void) {
  int first = 0, second = 0, go = 0;
  if (rank == 0) {
    MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE);
    MPI_Send(&go, 1, MPI_INT, 1, 4, comm);
    MPI_Recv(&second, 1, MPI_INT, 1, 3, comm, MPI_STATUS_IGNORE);
  } else {
    if (rank == 1) {
      MPI_Recv(&go, 1, MPI_INT, 0, 4, comm, MPI_STATUS_IGNORE);
    }
    MPI_Send(&rank, 1, MPI_INT, 0, 3, comm);
  }
  return rank == 0 && (first != 2 || second != 1);
}

static int by_collective(void) {
  int first = 0, second = 0;
  if (rank == 0) {
    MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, MPI_STATUS_IGNORE);
  }
  if (rank == 2) {
    MPI_Send(&rank, 1, MPI_INT, 0, 5, comm);
  }
  MPI_Barrier(comm);
  if (rank == 0) {
    MPI_Recv(&second, 1, MPI_INT, 1, 5, comm, MPI_STATUS_IGNORE);
  }
  if (rank == 1) {
    MPI_Send(&rank, 1, MPI_INT, 0, 5, comm);
  }
  return rank == 0 && (first != 2 || second != 1);
}

// What is there is known before it is received.
static int by_probe(void) {
  int first = 0, second = 0;
  MPI_Status status;
  if (rank == 0) {
    MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 6, comm, MPI_STATUS_IGNORE);
    MPI_Probe(MPI_ANY_SOURCE, 6, comm, &status);
    MPI_Recv(&second, 1, MPI_INT, status.MPI_SOURCE, 6, comm, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(&rank, 1, MPI_INT, 0, 6, comm);
  }
  return rank == 0 && first + second != 3;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  // The last ones on communicators that may have the same handle.
  int (*all[])(void) = {by_status, by_content, by_answer, by_collective, by_probe, by_probe};
  int wrong = 0;
  for (int i = 0; i < 6; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    wrong |= all[i]();
    MPI_Comm_free(&comm);
  }
  MPI_Finalize();
  return wrong;
}
