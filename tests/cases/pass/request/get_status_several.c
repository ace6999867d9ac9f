// Buffers are used when the statuses of several requests say that their operations are complete.
//# needs: MPI_Request_get_status_all MPI_Request_get_status_any MPI_Request_get_status_some
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int data[6];

  if (rank == 0) {
    MPI_Request requests[6];
    int flag, index, count, indices[6];
    MPI_Irecv(&data[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&data[1], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&data[2], 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(&data[3], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[3]);
    MPI_Irecv(&data[4], 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &requests[4]);
    MPI_Irecv(&data[5], 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[5]);

    MPI_Request_get_status_all(6, requests, &flag, MPI_STATUSES_IGNORE);
    MPI_Request_get_status_any(6, requests, &index, &flag, MPI_STATUS_IGNORE);
    MPI_Request_get_status_some(6, requests, &count, indices, MPI_STATUSES_IGNORE);

    MPI_Send(NULL, 0, MPI_INT, 1, 9, MPI_COMM_WORLD);
    do MPI_Request_get_status_any(1, &requests[3], &index, &flag, MPI_STATUS_IGNORE);
    while (!flag);
    wrong |= data[3] != 7 || index != 0;
    do MPI_Request_get_status_some(1, &requests[4], &count, indices, MPI_STATUSES_IGNORE);
    while (count < 1);
    wrong |= data[4] != 7;
    do MPI_Request_get_status_all(6, requests, &flag, MPI_STATUSES_IGNORE);
    while (!flag);
    wrong |= data[5] != 7;
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Recv(NULL, 0, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 6; i++) {
      data[i] = 7;
      MPI_Send(&data[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return wrong;
}
