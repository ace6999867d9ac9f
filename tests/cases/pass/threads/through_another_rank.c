// Two threads synchronise by messages to and from the other rank.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int in[4], out[4] = {7, 7, 7, 7};
  const int peer = 1 - rank;
#pragma omp parallel num_threads(2)
  {
    MPI_Request requests[2];
    int token = 0;
    if (omp_get_thread_num() == 0) {
      MPI_Irecv(in, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      MPI_Send(&token, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&token, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&token, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);
      MPI_Recv(&token, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < 4; i++) out[i] = in[i] + 1;
    }
  }
  MPI_Finalize();
  return out[3] == 8 ? 0 : 1;
}
