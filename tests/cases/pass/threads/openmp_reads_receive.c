// The threads of a parallel region read after the master completed the receive, and a barrier.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int in[64], out[64];
  int sum = 0;
  out[63] = 1;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
    MPI_Request request;
#pragma omp master
    {
      MPI_Irecv(in, 64, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
      MPI_Send(out, 64, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
#pragma omp barrier
    sum += in[63];
#pragma omp barrier
#pragma omp master
    in[0] = 0;
  }

  MPI_Finalize();
  return sum == 2 ? 0 : 1;
}
