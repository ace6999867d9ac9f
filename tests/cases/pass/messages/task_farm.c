// A task farm: the master takes results of whoever has one, of different lengths, and looks at tag
// and size before it receives; a worker that has nothing left to do says so by another tag.
//# np: 4
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { RESULT = 1, DONE = 2 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, total = 0, left = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank > 0) {
    int values[8] = {0};
    for (int task = 1; task <= 5; task++) {
      usleep(1000 * ((rank * 7 + task * 3) % 5));
      values[0] = 1;
      MPI_Send(values, (rank + task) % 8 + 1, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
    }
    MPI_Send(NULL, 0, MPI_INT, 0, DONE, MPI_COMM_WORLD);
  }
  for (left = rank == 0 ? size - 1 : 0; left > 0;) {
    MPI_Status status;
    int count;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    int *values = malloc((count + 1) * sizeof *values);
    MPI_Recv(values, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == DONE) {
      left--;
    } else {
      total += values[0];
    }
    free(values);
  }
  MPI_Barrier(MPI_COMM_WORLD); // nothing of what follows is meant for the probes
  // The same with a receive that has room for all, and one result of each rank that is received by
  // its name.
  int value = rank;
  if (rank > 0) {
    MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    MPI_Send(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
  } else {
    int values[8], sum = 0;
    for (int i = 1; i < size; i++) {
      MPI_Status status;
      MPI_Recv(values, 8, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
      sum += values[0] - status.MPI_SOURCE;
    }
    for (int i = 1; i < size; i++) {
      MPI_Recv(&value, 1, MPI_INT, i, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += value - i;
    }
    total += sum;
  }
  MPI_Finalize();
  return rank == 0 && total != 15;
}
