/* Memory for statuses is memory like any other. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 1, in[2] = {0, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Status *one = malloc(sizeof(MPI_Status)), *two = malloc(2 * sizeof(MPI_Status));
  MPI_Request requests[2];
  MPI_Isend(&value, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv(in, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, one);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Irecv(in, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&value, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, two);
  /* Of no requests nothing is stored: what is behind the four indices is a short. */
  int done, *indices = malloc(4 * sizeof(int) + sizeof(short));
  MPI_Waitsome(0, requests, &done, indices + 4, MPI_STATUSES_IGNORE);
  MPI_Testsome(0, requests, &done, indices + 4, MPI_STATUSES_IGNORE);
  free(indices);
  free(two);
  free(one);
  MPI_Finalize();
  return in[0] < 0;
}
