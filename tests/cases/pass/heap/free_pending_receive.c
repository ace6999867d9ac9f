// A structure with a receive buffer in its middle is freed after completion.
#include <mpi.h>
#include <stdlib.h>

typedef struct {
  long header[8];
  double values[20];
  long trailer[8];
} packet;

static void packet_free(packet *p) {
  free(p);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static double out[20] = {7};
  packet *p = calloc(1, sizeof(packet));
  MPI_Request request;
  MPI_Irecv(p->values, 20, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Send(out, 20, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  MPI_Sendrecv(NULL, 0, MPI_INT, peer, 1, NULL, 0, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  double first = p->values[0];
  packet_free(p);

  MPI_Finalize();
  return first == 7 ? 0 : 1;
}
