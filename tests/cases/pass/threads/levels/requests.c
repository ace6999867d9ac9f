// Threads complete requests of one array, each its own; and one thread those of another, in turn.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv) {
  int provided, rank, in[4] = {0}, out[4] = {1, 2, 3, 4};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static MPI_Request requests[8];
  #pragma omp parallel num_threads(4)
  {
    int t = omp_get_thread_num();
    for (int round = 0; round < 20; round++) {
      MPI_Irecv(&in[t], 1, MPI_INT, !rank, t, MPI_COMM_WORLD, &requests[2 * t]);
      MPI_Isend(&out[t], 1, MPI_INT, !rank, t, MPI_COMM_WORLD, &requests[2 * t + 1]);
      MPI_Waitall(2, &requests[2 * t], MPI_STATUSES_IGNORE);
    }
    MPI_Irecv(&in[t], 1, MPI_INT, !rank, t, MPI_COMM_WORLD, &requests[2 * t]);
    MPI_Isend(&out[t], 1, MPI_INT, !rank, t, MPI_COMM_WORLD, &requests[2 * t + 1]);
    #pragma omp barrier
    int other = (t + 1) % 4;
    MPI_Waitall(2, &requests[2 * other], MPI_STATUSES_IGNORE);
    #pragma omp barrier
    #pragma omp single
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Finalize();
  return in[3] == 4 ? 0 : 1;
}
