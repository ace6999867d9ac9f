// Arguments that only the root uses may be anything elsewhere, even memory in use.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int shared[12], mine[4], part[4];
  MPI_Request requests[2];
  void *all = rank == 1 ? (void *)shared : (void *)mine;
  MPI_Igather(mine, 4, MPI_INT, all, 4, MPI_INT, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Iscatter(shared, 4, MPI_INT, part, 4, MPI_INT, 1, MPI_COMM_WORLD, &requests[1]);
  if (rank != 1) {
    shared[0] = 1;
    shared[11] = shared[0];
  }
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);

  MPI_Finalize();
  return part[0] == 0 ? 0 : 1;
}
