// A parallel loop updates all cells while the first ones are being sent.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>

enum { N = 1000, EDGE = 10 };

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static double cells[N], halo[EDGE];
  MPI_Request requests[2];
  MPI_Irecv(halo, EDGE, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(cells, EDGE, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-01 operation
  int begin = 0;
#pragma omp parallel for num_threads(3)
  for (int i = begin; i < N; i++) {
    cells[i] = i; //~ CS-BUF-01 access
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  MPI_Finalize();
  return 0;
}
