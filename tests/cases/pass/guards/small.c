/* Messages smaller than a page, on a stack and in allocated memory, are complete before they
   change, in code that nobody has recompiled. What lies beside them changes at any time. */
//# hooks: none
//# options: --guards
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100, ROUNDS = 3 };

static double table[COUNT + 1];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *out = malloc((COUNT + 1) * sizeof(double)), *in = malloc(COUNT * sizeof(double)), one[3] = {rank, rank, rank};
  for (int i = 0; i < COUNT; i++) out[i] = table[i] = i;
  MPI_Request request;
  for (int i = 0; i < ROUNDS; i++) {
    MPI_Isend(out, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &request);
    out[COUNT] += 1;
    MPI_Recv(in, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    out[COUNT - 1] += 1;
  }
  MPI_Isend(&one[1], 1, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &request);
  MPI_Recv(&one[2], 1, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  one[0] = one[2];
  for (int done = 0; !done;) MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
  one[1] = one[0];
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  /* A strided send: what lies between its elements is not sent. */
  MPI_Datatype column;
  MPI_Type_vector(COUNT / 4, 1, 4, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Isend(out, 1, column, 1 - rank, 3, MPI_COMM_WORLD, &request);
  for (int i = 0; i < COUNT; i++)
    if (i % 4) out[i] = -1;
  MPI_Recv(in, COUNT / 4, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);
  MPI_Send_init(table, COUNT, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, &request);
  for (int i = 0; i < ROUNDS; i++) {
    MPI_Start(&request);
    table[COUNT] = i;
    MPI_Recv(in, COUNT, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(table, i, sizeof table);
  }
  MPI_Request_free(&request);
  MPI_Ibcast(rank == 0 ? out : in, COUNT, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) out[7] = -1;
  free(out);
  free(in);
  MPI_Finalize();
}
