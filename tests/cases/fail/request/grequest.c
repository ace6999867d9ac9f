// An operation of the program's own, and one of MPI's, whose requests are mixed up.
#include <mpi.h>
#include <stdio.h>

static int ask(void *state, MPI_Status *status) {
  MPI_Status_set_elements(status, MPI_INT, *(int *)state);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int release(void *state) { return *(int *)state != 1; }
static int cancel(void *state, int complete) { return *(int *)state + complete < 1; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank, state = 1, other = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request own, received;
  MPI_Irecv(&other, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &received);
  MPI_Grequest_start(ask, release, cancel, &state, &own);
  MPI_Grequest_complete(received); //~ CS-ARG-01 operation
  MPI_Grequest_complete(own);
  MPI_Wait(&own, MPI_STATUS_IGNORE);
  MPI_Send(&state, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&received, MPI_STATUS_IGNORE);
  printf("%d\n", other);
  MPI_Finalize();
  return other != 1;
}
