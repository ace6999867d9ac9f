/* MPI's own functions, called through pointers: one in a variable, one in a table of operations. */
#include <mpi.h>

struct transport {
  int (*sync)(MPI_Comm);
  int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
};

static int data[8];

int main(int argc, char **argv) {
  int rank;
  MPI_Request request;
  struct transport transport = {MPI_Barrier, MPI_Isend};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) //~ CS-COL-01 cause
    transport.sync(MPI_COMM_WORLD); //~ CS-COL-01 access
  transport.send(data, 8, MPI_INT, 0, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  data[0] = 1; //~ CS-BUF-01 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
}
