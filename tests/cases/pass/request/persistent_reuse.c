// Persistent requests are started and completed in every way, the buffers used in between.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int out[10], in[10];
  int sum = 0, index, n, which[2], done;
  MPI_Request requests[2];
  MPI_Send_init(out, 10, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(in, 10, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
  for (int step = 0; step < 5; step++) {
    out[9] = step;
    MPI_Startall(2, requests);
    switch (step) {
    case 0:
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      break;
    case 1:
      MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
      MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
      break;
    case 2:
      for (int left = 2; left > 0; left -= n) {
        MPI_Waitsome(2, requests, &n, which, MPI_STATUSES_IGNORE);
      }
      break;
    case 3:
      for (done = 0; !done;) {
        MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
      }
      break;
    default:
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    sum += in[9];
    in[9] = 0;
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);

  MPI_Finalize();
  return sum == 10 ? 0 : 1;
}
