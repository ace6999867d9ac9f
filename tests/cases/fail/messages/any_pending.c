// A nonblocking receive from anybody, complete after a receive that names its source; both of any
// tag, in a function.
//# np: 3
#include <mpi.h>
#include <unistd.h>

static void collect(MPI_Comm comm, int *values) {
  MPI_Request request;
  MPI_Irecv(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request); //~ CS-MSG-03 operation
  MPI_Recv(&values[1], 1, MPI_INT, 2, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);      //~ CS-MSG-03 access
  MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, values[2] = {0, 0};
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    collect(comm, values);
  } else {
    usleep(rank == 2 ? 200000 : 0);
    MPI_Send(&rank, 1, MPI_INT, 0, 4 + rank, comm); //~ CS-MSG-03 operation
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return rank == 0 && values[0] + values[1] != 3;
}
