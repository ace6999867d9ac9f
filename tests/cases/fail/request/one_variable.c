/* One variable for the requests of three small sends, and one wait: libraries that share a handle
 * between sends that are complete at once make no difference. */
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, out[3] = {1, 2, 3}, in;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; i++) {
    MPI_Isend(&out[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &request); //~ CS-REQ-02 operation //~ CS-REQ-02 overwrite
    MPI_Recv(&in, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
