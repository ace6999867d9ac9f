// Tasks use the part of a buffer that belongs to the thread which executes them, one after the
// other.
//# np: 2
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>

enum { TASKS = 30 };

int main(int argc, char **argv) {
  int provided, rank;
  static int out[2][4], in[2][4], kept;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i)
    {
      int me = omp_get_thread_num();
      MPI_Request requests[2];
      out[me][0] = i;
      MPI_Irecv(in[me], 4, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(out[me], 4, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      __atomic_add_fetch(&kept, in[me][0], __ATOMIC_RELAXED);
    }
  }
  int wrong = kept != TASKS * (TASKS - 1) / 2;
  MPI_Finalize();
  return wrong;
}
