/* MPI's own functions, called through pointers, in order. */
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
  transport.sync(MPI_COMM_WORLD);
  transport.send(data, 8, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  data[0] = 1;
  MPI_Finalize();
}
