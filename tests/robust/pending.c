// Thousands of operations pending at once, completed all together, some at a time, and one by one
// in the wrong order, while the program computes beside them.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MANY = 5000, LENGTH = 4 };

static int in[MANY][LENGTH + 1], out[MANY][LENGTH + 1];
static MPI_Request requests[2 * MANY];
static int indices[2 * MANY];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  long wrong = 0;
  double start = MPI_Wtime();
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < MANY; i++)
      MPI_Irecv(in[i], LENGTH, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
    for (int i = 0; i < MANY; i++) {
      for (int k = 0; k < LENGTH; k++) out[i][k] = i + k + round;
      MPI_Isend(out[i], LENGTH, MPI_INT, 0, i, MPI_COMM_SELF, &requests[MANY + i]);
    }
    // What lies between the buffers is free.
    for (int i = 0; i < MANY; i++) in[i][LENGTH] = out[i][LENGTH] = round;
    switch (round) {
    case 0: MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE); break;
    case 1:
      for (int done = 0, n; done < 2 * MANY; done += n)
        MPI_Waitsome(2 * MANY, requests, &n, indices, MPI_STATUSES_IGNORE);
      break;
    case 2:
      for (int i = 2 * MANY - 1; i >= 0; i--) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      break;
    default:
      for (int flag = 0; !flag;)
        MPI_Testall(2 * MANY, requests, &flag, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < MANY; i++)
      for (int k = 0; k < LENGTH; k++) wrong += in[i][k] != i + k + round;
  }
  printf("%ld wrong\n", wrong);
  fprintf(stderr, "took %.3f s\n", MPI_Wtime() - start);
  MPI_Finalize();
  return wrong != 0;
}
