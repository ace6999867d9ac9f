/* One variable for the requests of small sends, whose handles are kept elsewhere, change places,
 * and are waited for in another order; buffers are used again as soon as their send is complete. */
#include <mpi.h>
#include <stdio.h>

struct sending {
  int *buffer;
  MPI_Request request;
};

int main(int argc, char **argv) {
  static int out[4];
  int rank, in, wrong = 0;
  MPI_Request request, kept[4];
  struct sending all[4];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  for (int i = 0; i < 4; i++) {
    out[i] = i;
    MPI_Isend(&out[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &request);
    kept[i] = request;
  }
  for (int i = 0; i < 4; i++) {
    MPI_Recv(&in, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += in != i;
  }
  MPI_Waitall(4, kept, MPI_STATUSES_IGNORE);

  for (int i = 0; i < 4; i++) {
    all[i].buffer = &out[i];
    MPI_Isend(all[i].buffer, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &all[i].request);
  }
  for (int i = 0; i < 4; i++) MPI_Recv(&in, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; i++) {
    struct sending other = all[i];
    all[i] = all[3 - i];
    all[3 - i] = other;
  }
  for (int i = 0; i < 4; i++) {
    MPI_Wait(&all[i].request, MPI_STATUS_IGNORE);
    *all[i].buffer = -1;
  }
  printf("%d\n", wrong);
  MPI_Finalize();
  return wrong;
}
