// The arrays of a persistent collective belong to MPI until its request is freed, also between its
// starts.
//# mpi: mpich
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  static int in[2], out[4], counts[2] = {2, 2}, places[2] = {0, 2};
  MPI_Request request;
  MPI_Allgatherv_init(in, 2, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request); //~ CS-BUF-01 operation
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  in[0] = out[1];
  places[1] = 2; //~ CS-BUF-01 access
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);

  MPI_Finalize();
  return 0;
}
