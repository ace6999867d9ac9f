// A task farm's worker keeps no track of its sends: it computes the next result into the
// buffer of the last one, which nothing has completed.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 6, LENGTH = 32, RESULT = 1 };

static void compute(int task, double *result) {
  for (int i = 0; i < LENGTH; i++) {
    result[i] = task + i; //~ CS-BUF-01 access ranks=1
  }
}

static void worker(void) {
  double *result = malloc(LENGTH * sizeof(double));
  MPI_Request requests[TASKS];
  for (int task = 0; task < TASKS; task++) {
    compute(task, result);
    MPI_Isend(result, LENGTH, MPI_DOUBLE, 0, RESULT, MPI_COMM_WORLD, &requests[task]); //~ CS-BUF-01 operation ranks=1
  }
  MPI_Waitall(TASKS, requests, MPI_STATUSES_IGNORE);
  free(result);
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

  printf("%s\n", sum == (rank == 0 ? 15 : 0) ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
