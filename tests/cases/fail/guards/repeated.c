/* Persistent messages and a collective: their buffers are used before they are complete. */
//# hooks: none
//# options: --guards
#include <mpi.h>
#include <stdlib.h>

enum { COUNT = 50000 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *out = malloc(COUNT * sizeof(double)), *in = malloc(COUNT * sizeof(double));
  MPI_Request requests[2];
  MPI_Recv_init(in, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  for (int step = 0; step < 3; step++) {
    for (int i = 0; i < COUNT; i++) out[i] = step;
    MPI_Startall(2, requests); //~ CS-BUF-01 operation
    out[COUNT / 2] = -1; //~ CS-BUF-01 access ranks=0,1 count=6
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    wrong |= in[0] != step;
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);

  double *total = malloc(COUNT * sizeof(double)), sum = 0;
  MPI_Request request;
  for (int i = 0; i < COUNT; i++) out[i] = 1;
  MPI_Iallreduce(out, total, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  for (int i = 0; i < COUNT; i++) sum += total[i]; //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(out);
  free(in);
  free(total);
  MPI_Finalize();
  return wrong || sum < 0;
}
