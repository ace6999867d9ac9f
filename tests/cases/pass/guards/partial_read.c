/* A file is read into memory of which a part is being received: the data do not come as far, and a
 * second time there are none. */
//# hooks: none
//# options: --guards
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PAGE = 4096, SIZE = 16 * PAGE, HALF = SIZE / 2 };

static char buffer[SIZE], other[SIZE];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ends[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (pipe(ends) != 0) abort();
  MPI_Request request;
  MPI_Irecv(buffer + HALF, HALF, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &request);
  /* As much as has arrived, which is less than the half that is its own. */
  if (write(ends[1], other, HALF - PAGE) != HALF - PAGE) abort();
  if (read(ends[0], buffer, SIZE) != HALF - PAGE) abort();
  FILE *file = fdopen(ends[0], "r");
  close(ends[1]);
  int rest = (int)fread(buffer + HALF, 1, HALF, file);
  MPI_Send(other, HALF, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  fclose(file);
  MPI_Finalize();
  return rest != 0;
}
