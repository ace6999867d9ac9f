// Between groups, each contributes as many elements as its own processes receive.
//# np: 4
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int alone = rank == 0;
  MPI_Comm group, both;
  MPI_Comm_split(MPI_COMM_WORLD, alone, rank, &group);
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, alone ? 1 : 0, 0, &both);

  // Input and result side by side: one element too many would be an overlap.
  static struct {
    int input[3], result[3], counts[3], limit;
  } data;
  int receives = alone ? 3 : 1;
  for (int i = 0; i < 3; i++) {
    data.input[i] = i + 1;
    data.counts[i] = receives;
  }
  data.limit = 1 << 20;

  MPI_Reduce_scatter(data.input, data.result, data.counts, MPI_INT, MPI_SUM, both);
  MPI_Reduce_scatter_block(data.input, data.result, receives, MPI_INT, MPI_SUM, both);
  printf("%d\n", data.result[0] == (alone ? 3 : rank));

  MPI_Request requests[2];
  static int other[3];
  MPI_Ireduce_scatter(data.input, data.result, data.counts, MPI_INT, MPI_SUM, both, &requests[0]);
  MPI_Ireduce_scatter_block(data.input, other, receives, MPI_INT, MPI_SUM, both, &requests[1]);
  data.limit = 2;
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  MPI_Comm_free(&both);
  MPI_Comm_free(&group);
  MPI_Finalize();
  return 0;
}
