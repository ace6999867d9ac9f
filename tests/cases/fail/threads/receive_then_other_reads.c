// A thread reads what another one has received: nothing orders them.
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
      MPI_Irecv(in, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
      MPI_Send(out, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (omp_get_thread_num() == 1) usleep(200000);
    if (omp_get_thread_num() == 1) {
      printf("%d\n", in[1]); //~ CS-BUF-02 access
    }
  }
  MPI_Finalize();
  return 0;
}
