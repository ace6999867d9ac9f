// A task farm's worker alternates two buffers and completes a send before reusing its buffer.
#include <mpi.h>
#include <stdlib.h>

enum { TASKS = 6, LENGTH = 32, RESULT = 1 };

static void compute(int task, double *result) {
  for (int i = 0; i < LENGTH; i++) {
    result[i] = task + i;
  }
}

static void worker(void) {
  double *results[2] = {malloc(LENGTH * sizeof(double)), malloc(LENGTH * sizeof(double))};
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  for (int task = 0; task < TASKS; task++) {
    int slot = task % 2;
    MPI_Wait(&requests[slot], MPI_STATUS_IGNORE);
    compute(task, results[slot]);
    MPI_Isend(results[slot], LENGTH, MPI_DOUBLE, 0, RESULT, MPI_COMM_WORLD, &requests[slot]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  free(results[0]);
  free(results[1]);
}

static double collect(void) {
  double result[LENGTH], sum = 0;
  for (int task = 0; task < TASKS; task++) {
    MPI_Recv(result, LENGTH, MPI_DOUBLE, 1, RESULT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += result[0];
  }
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  double sum = 0;
  if (rank == 0) {
    sum = collect();
  } else {
    worker();
  }

  MPI_Finalize();
  return sum == (rank == 0 ? 15 : 0) ? 0 : 1;
}
