// Two threads send one after the other, in any order.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv) {
  int provided, rank, in[2] = {0, 0}, out[2] = {1, 2};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  if (provided != MPI_THREAD_SERIALIZED) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request requests[4];
  for (int i = 0; i < 2; i++) MPI_Irecv(&in[i], 1, MPI_INT, !rank, i, MPI_COMM_WORLD, &requests[i]);
  #pragma omp parallel num_threads(2)
  {
    int t = omp_get_thread_num();
    #pragma omp critical
    MPI_Isend(&out[t], 1, MPI_INT, !rank, t, MPI_COMM_WORLD, &requests[2 + t]);
  }
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return in[0] + in[1] == 3 ? 0 : 1;
}
