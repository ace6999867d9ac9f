// The arrays of a persistent collective are read between its starts, and changed when its request
// is freed.
//# mpi: mpich
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  static int in[2], out[4], counts[2] = {2, 2}, places[2] = {0, 2};
  MPI_Request request;
  MPI_Allgatherv_init(in, 2, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  in[0] = out[1];
  in[1] = places[1] + counts[0];
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  places[1] = counts[1] = 1;

  MPI_Finalize();
  return 0;
}
