// Threads pack with memcpy and send; all pack into the first thread's buffer.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>
#include <string.h>

enum { THREADS = 2, N = 40 };

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int data[THREADS][N], packed[THREADS][N], in[THREADS][N];
  size_t size = sizeof(data[0]) + 0 * argc;
  for (int t = 0; t < THREADS; t++) {
    data[t][N - 1] = t + 1;
  }
#pragma omp parallel num_threads(THREADS)
  {
    int me = omp_get_thread_num();
    int *buffer = packed[0];
    MPI_Request request = MPI_REQUEST_NULL;
    if (me == 0) {
      memcpy(buffer, data[me], size);
      MPI_Isend(buffer, N, MPI_INT, 1 - rank, me, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
    }
#pragma omp barrier
    if (me == 1) {
      memcpy(buffer, data[me], size); //~ CS-BUF-01 access
      MPI_Isend(buffer, N, MPI_INT, 1 - rank, me, MPI_COMM_WORLD, &request);
    }
#pragma omp barrier
    MPI_Recv(in[me], N, MPI_INT, 1 - rank, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  MPI_Finalize();
  return 0;
}
