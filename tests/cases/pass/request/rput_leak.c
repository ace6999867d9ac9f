// Requests of one-sided operations are completed before the epoch ends.
#include <mpi.h>
#include <stdio.h>

static void send_rows(MPI_Win window, const double *rows, MPI_Request *requests) {
  for (int row = 0; row < 3; row++)
    MPI_Rput(rows + 4 * row, 4, MPI_DOUBLE, 1, 4 * row, 4, MPI_DOUBLE, window, &requests[row]);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *shared, rows[12] = {1, 2, 3};
  MPI_Win window;
  MPI_Win_allocate(12 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
  MPI_Win_lock_all(0, window);
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (rank == 0) send_rows(window, rows, requests);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%g\n", rank == 1 ? shared[2] : rows[2]);
  int is_wrong = rank == 1 && shared[2] != 3;
  MPI_Win_free(&window);
  MPI_Finalize();
  return is_wrong;
}
