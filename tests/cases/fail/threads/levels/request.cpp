// Two threads wait for one request.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv) {
  int provided, rank, in = 0, out = 7;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD, &request);
  MPI_Send(&out, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  #pragma omp parallel num_threads(2)
  {
    /* no construct */
    MPI_Wait(&request, MPI_STATUS_IGNORE); //~ CS-THR-05 access //~ CS-THR-05 operation
  }
  MPI_Finalize();
  return in == 7 ? 0 : 1;
}
