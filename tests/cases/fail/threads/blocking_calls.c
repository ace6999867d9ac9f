// Another thread uses the buffers of blocking calls: it comes later, but nothing orders it.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

static int told, out[16], in[16], sum[16], got;

int main(int argc, char **argv) {
  int provided, rank, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 16; i++) out[i] = i;
  #pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      MPI_Request request;
      MPI_Irecv(&got, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD, &request);
      MPI_Send(out, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD); //~ CS-BUF-01 operation
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Sendrecv(out + 8, 4, MPI_INT, !rank, 1, in, 4, MPI_INT, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-BUF-02 operation
      MPI_Allreduce(out + 4, sum, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD); //~ CS-BUF-03 operation
      __atomic_store_n(&told, 1, __ATOMIC_RELAXED);
    } else {
      // What it does not share with them is nobody's business.
      out[15] = 1;
      while (!__atomic_load_n(&told, __ATOMIC_RELAXED)) usleep(10);
      out[0] = 7; //~ CS-BUF-01 access
      wrong += in[1] != 9; //~ CS-BUF-02 access
      sum[2] = 0; //~ CS-BUF-03 access
    }
  }
  wrong += in[3] != 11 || sum[3] != 14 || sum[2] != 0;
  MPI_Finalize();
  return wrong;
}
