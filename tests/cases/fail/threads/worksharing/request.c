// Two iterations wait for one request.
//# flags: -fopenmp
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int over;

static void stay_here(void) {
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) usleep(10);
}

static void all_is_over(void) { __atomic_store_n(&over, 1, __ATOMIC_RELAXED); }

int main(int argc, char **argv) {
  int provided, rank;
  static int in[2], out[2] = {7, 7};
  static MPI_Request requests[2];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 2; i++) MPI_Irecv(&in[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < 2; i++) MPI_Send(&out[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD);
#pragma omp parallel for schedule(monotonic : dynamic) num_threads(2)
  for (int i = 0; i < 3; i++) {
    if (i == 0) stay_here();
    if (i == 1) MPI_Wait(&requests[0], MPI_STATUS_IGNORE); //~ CS-THR-05 operation
    if (i == 2) {
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE); //~ CS-THR-05 access
      all_is_over();
    }
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return in[0] == 7 && in[1] == 7 ? 0 : 1;
}
