// A thread reads what another one has received before a barrier.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int in[4], out[4] = {7, 7, 7, 7};
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      MPI_Request request;
      MPI_Irecv(in, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
      MPI_Send(out, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
#pragma omp barrier
    if (omp_get_thread_num() == 1) {
      printf("%d\n", in[1]);
    }
  }
  MPI_Finalize();
  return 0;
}
