// A rank waits for a message that a library sends when MPI_Finalize calls it back, which takes it
// some time.
//# np: 3
//# options: --stuck-after 1
#include <mpi.h>
#include <stddef.h>
#include <unistd.h>

static MPI_Comm pair;

static int clean_up(MPI_Comm self, int key, void *value, void *extra) {
  (void)self, (void)key, (void)value, (void)extra;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    sleep(2);
    MPI_Send(&rank, 1, MPI_INT, 2, 1, MPI_COMM_WORLD);
  }
  if (pair != MPI_COMM_NULL) {
    MPI_Barrier(pair);
    MPI_Comm_free(&pair);
  }
  return MPI_SUCCESS;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, key, value;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, 0, &pair);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clean_up, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &pair);
  MPI_Comm_free_keyval(&key);
  if (rank == 2) {
    MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
