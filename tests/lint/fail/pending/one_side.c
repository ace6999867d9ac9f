/* Requests that are completed on one side of a condition only, which nothing has to do with. */
#include <mpi.h>
#include <stdio.h>

static int out[4], in[4], more[4];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Request request, other;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Isend(out, 4, MPI_INT, to, 0, MPI_COMM_WORLD, &request); //~ CS-REQ-01 operation possible
  MPI_Recv(in, 4, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0)
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Irecv(more, 4, MPI_INT, from, 1, MPI_COMM_WORLD, &other); //~ CS-REQ-01 operation possible
  MPI_Send(out, 4, MPI_INT, to, 1, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    printf("%d\n", in[0]);
  } else if (rank == 1) {
    MPI_Waitall(1, &other, MPI_STATUSES_IGNORE);
  }
  MPI_Finalize();
}
