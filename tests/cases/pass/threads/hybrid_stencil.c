// Threads compute with what the master has received, in one region for all steps.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { ROWS = 16, COLUMNS = 40, STEPS = 20 };

static double grid[2][ROWS + 2][COLUMNS];

int main(int argc, char **argv) {
  int provided, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int up = (rank + size - 1) % size, down = (rank + 1) % size;
  for (int j = 0; j < COLUMNS; j++) grid[0][1][j] = rank == 0 ? 1000 : 0;

  double sum = 0, total = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  {
    for (int step = 0; step < STEPS; step++) {
      double(*now)[COLUMNS] = grid[step % 2], (*next)[COLUMNS] = grid[1 - step % 2];
#pragma omp master
      {
        MPI_Request requests[4];
        MPI_Irecv(now[0], COLUMNS, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(now[ROWS + 1], COLUMNS, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(now[1], COLUMNS, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(now[ROWS], COLUMNS, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
      }
#pragma omp barrier
#pragma omp for schedule(static)
      for (int i = 1; i <= ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
          const double above = now[i - 1][j];
          const double below = now[i + 1][j];
          next[i][j] = (above + below + now[i][j]) / 3;
        }
      }
    }
#pragma omp for
    for (int i = 1; i <= ROWS; i++)
      for (int j = 0; j < COLUMNS; j++) sum += grid[STEPS % 2][i][j];
  }
  MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return total > 39999.9 && total < 40000.1 ? 0 : 1;
}
