// Tasks use a buffer that each thread has for itself, but leave it to what comes after them to wait
// for their sends.
//# np: 2
//# flags: -fopenmp
#include <mpi.h>

enum { TASKS = 30 };

static int storage[2][4];
static MPI_Request requests[TASKS];
static int *buffer;
#pragma omp threadprivate(buffer)

int main(int argc, char **argv) {
  int provided, rank, given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
  {
#pragma omp critical
    buffer = storage[given++];
#pragma omp barrier
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i)
      {
        buffer[0] = i; //~ CS-BUF-01 access
        MPI_Isend(buffer, 4, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[i]); //~ CS-BUF-01 operation
        int in[4];
        MPI_Recv(in, 4, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
  }
  MPI_Waitall(TASKS, requests, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return 0;
}
