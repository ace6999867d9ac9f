//# np: 2
// Sends are waited for when their receives have been posted; or they are buffered.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int other = 1 - rank, in[2] = {0}, out[2] = {rank, rank + 10};
  MPI_Request sends[2], again;
  MPI_Isend(&out[0], 1, MPI_INT, other, 0, MPI_COMM_WORLD, &sends[0]);
  MPI_Recv(&in[0], 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&sends[0], MPI_STATUS_IGNORE);
  static char room[1024 + MPI_BSEND_OVERHEAD];
  MPI_Buffer_attach(room, sizeof room);
  MPI_Bsend_init(&out[1], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &again);
  MPI_Start(&again);
  MPI_Wait(&again, MPI_STATUS_IGNORE);
  MPI_Recv(&in[1], 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Request_free(&again);
  void *taken;
  int bytes;
  MPI_Buffer_detach(&taken, &bytes);
  MPI_Finalize();
  return in[0] != other || in[1] != other + 10;
}
