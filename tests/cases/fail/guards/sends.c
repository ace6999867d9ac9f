/* What is sent is protected from writing, as where memory has no protection keys: the program,
   functions that it calls, and the system write to it. The program goes on. */
//# hooks: none
//# options: --guards=sends --guard-budget 100
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 1 << 17 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *out = calloc(COUNT, sizeof *out), *in = calloc(COUNT, sizeof *in);
  int zero = open("/dev/zero", O_RDONLY);
  MPI_Request requests[2];
  for (int round = 0; round < 4; round++) {
    MPI_Irecv(in, COUNT, MPI_DOUBLE, 1 - rank, round, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, COUNT, MPI_DOUBLE, 1 - rank, round, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-01 operation //~ CS-BUF-01 operation //~ CS-BUF-01 operation //~ CS-BUF-04 operation
    if (round == 0) out[COUNT / 2] = 7; //~ CS-BUF-01 access ranks=0,1
    if (round == 1) memset(out + COUNT / 2, 1, 4096); //~ CS-BUF-01 access ranks=0,1
    if (round == 2 && read(zero, out, COUNT * sizeof *out) < 0) MPI_Abort(MPI_COMM_WORLD, 3); //~ CS-BUF-01 access ranks=0,1
    if (round == 3) MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 9, out, 1, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-BUF-04 access ranks=0,1
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  close(zero);
  free(out);
  free(in);
  MPI_Finalize();
}
