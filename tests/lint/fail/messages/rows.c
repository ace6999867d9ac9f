// A row is written before it is sent, through a table of rows.
#include <mpi.h>
#include <stdlib.h>

enum { ROWS = 3, WIDTH = 16 };

static double *rows[ROWS];

int main(int argc, char **argv) {
  int rank, size;
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int row = 0; row < ROWS; row++) rows[row] = calloc(WIDTH, sizeof(double));
  MPI_Irecv(rows[2], WIDTH, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(rows[1], WIDTH, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-01 operation
  for (int row = 0; row < 2; row++)
    rows[row][rank + 3] = 7; //~ CS-BUF-01 access
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int row = 0; row < ROWS; row++) free(rows[row]);
  MPI_Finalize();
  return 0;
}
