// A structure with a receive buffer in its middle is freed. A second message shows that the
// first one arrived, but only MPI_Wait would tell that the library is done with the buffer.
#include <mpi.h>
#include <stdlib.h>

typedef struct {
  long header[8];
  double values[20];
  long trailer[8];
} packet;

static void packet_free(packet *p) {
  free(p); //~ CS-BUF-05 release
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static double out[20] = {7};
  packet *p = calloc(1, sizeof(packet));
  MPI_Request request;
  MPI_Irecv(p->values, 20, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-05 operation
  MPI_Send(out, 20, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  MPI_Sendrecv(NULL, 0, MPI_INT, peer, 1, NULL, 0, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  packet_free(p);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
