/* Messages smaller than a page, on a stack and in allocated memory, change while they are sent, in
   code that nobody has recompiled. */
//# hooks: none
//# options: --guards
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100, ROUNDS = 3 };

static double table[COUNT];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *out = malloc(COUNT * sizeof(double)), *in = malloc(COUNT * sizeof(double)), one = rank;
  for (int i = 0; i < COUNT; i++) out[i] = table[i] = i;
  MPI_Request request;
  for (int i = 0; i < ROUNDS; i++) {
    MPI_Isend(out, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-10 operation ranks=0,1 count=6
    out[COUNT - 1] += 1;
    MPI_Recv(in, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Isend(&one, 1, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &request); //~ CS-BUF-04 operation
  MPI_Recv(&one, 1, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-BUF-04 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Send_init(table, COUNT, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, &request);
  MPI_Start(&request); //~ CS-BUF-10 operation
  MPI_Recv(in, COUNT, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  memset(table, 0, sizeof table);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  MPI_Ibcast(rank == 0 ? out : in, COUNT, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-10 operation ranks=0
  if (rank == 0) out[7] = -1;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(out);
  free(in);
  MPI_Finalize();
}
