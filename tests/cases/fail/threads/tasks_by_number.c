// Pairs of tasks take turns with two buffers, as if they had been executed in the order in which
// they were created.
//# np: 2
//# flags: -fopenmp
#include <mpi.h>

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
      int me = i / 2 % 2;
      MPI_Request requests[2];
      out[me][0] = i; //~ CS-BUF-01 access
      MPI_Irecv(in[me], 4, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[0]); //~ CS-BUF-04 operation //~ CS-BUF-04 access //~ CS-BUF-02 operation
      MPI_Isend(out[me], 4, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-01 operation
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      __atomic_add_fetch(&kept, in[me][0], __ATOMIC_RELAXED); //~ CS-BUF-02 access
    }
  }
  int wrong = kept != TASKS * (TASKS - 1) / 2;
  MPI_Finalize();
  return wrong;
}
