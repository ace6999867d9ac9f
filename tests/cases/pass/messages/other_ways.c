// Messages go ways on which they are not counted, or as types that fit any.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank, other = 1 - rank, numbers[8] = {0};
  MPI_Request request;
  MPI_Message message;
  MPI_Comm copies[3];
  for (int i = 0; i < 3; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &copies[i]);
  }
  /* A matched probe. */
  MPI_Isend(&value, 1, MPI_INT, other, 0, copies[0], &request);
  MPI_Mprobe(other, 0, copies[0], &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(numbers, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  /* A receive that is cancelled. */
  MPI_Irecv(numbers, 1, MPI_INT, other, 5, copies[1], &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  /* Bytes, nothing, two at once, oneself, and nobody. */
  MPI_Sendrecv(&value, 4, MPI_BYTE, other, 0, numbers, 1, MPI_INT, other, 0, copies[2], MPI_STATUS_IGNORE);
  MPI_Sendrecv(&value, 0, MPI_DOUBLE, other, 0, numbers, 8, MPI_INT, other, 0, copies[2], MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(numbers, 8, MPI_INT, other, 0, MPI_ANY_SOURCE, 0, copies[2], MPI_STATUS_IGNORE);
  MPI_Sendrecv(&value, 1, MPI_INT, rank, 1, numbers, 1, MPI_INT, rank, 1, copies[2], MPI_STATUS_IGNORE);
  MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, numbers, 1, MPI_INT, MPI_PROC_NULL, 1, copies[2], MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; i++) {
    MPI_Comm_free(&copies[i]);
  }
  MPI_Finalize();
  return 0;
}
