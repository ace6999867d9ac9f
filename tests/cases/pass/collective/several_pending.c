// Three collectives and a message are pending at once, on different memory.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int bcast[8], mine[8], total[8], in[8], out[8];
  MPI_Request requests[5];
  mine[0] = out[0] = 1;
  MPI_Ibcast(bcast, 8, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(mine, total, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
  MPI_Irecv(in, 8, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Isend(out, 8, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[4]);
  int sum = mine[0] + out[0];
  MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
  bcast[0] = total[0] + in[0] + sum;

  MPI_Finalize();
  return bcast[0] == 5 ? 0 : 1;
}
