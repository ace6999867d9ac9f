//# np: 2
// Sends of which MPICH makes one handle, having buffered them or nothing to send; each is waited
// for in good time.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int other = 1 - rank, in[2] = {0}, out[2] = {rank, rank + 10};
  MPI_Request sends[2], incoming, nothing;
  MPI_Irecv(&in[0], 1, MPI_INT, other, 0, MPI_COMM_WORLD, &incoming);
  MPI_Isend(&out[0], 1, MPI_INT, other, 0, MPI_COMM_WORLD, &sends[0]);
  MPI_Isend(&out[1], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &sends[1]);
  MPI_Isend(&out[1], 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &nothing);
  MPI_Wait(&sends[0], MPI_STATUS_IGNORE);
  MPI_Wait(&nothing, MPI_STATUS_IGNORE);
  MPI_Recv(&in[1], 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&sends[1], MPI_STATUS_IGNORE);
  MPI_Wait(&incoming, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return in[0] != other || in[1] != other + 10;
}
