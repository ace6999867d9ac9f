// A rank waits for a message of one that is in MPI_Finalize already, which has called a library
// back before.
//# np: 3
//# options: --stuck-after 1
#include <mpi.h>
#include <stddef.h>

static MPI_Comm pair;

static int clean_up(MPI_Comm self, int key, void *value, void *extra) {
  (void)self, (void)key, (void)value, (void)extra;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
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
    MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait ranks=0,2
  }
  MPI_Finalize(); //~ CS-DLK-01 wait
  return 0;
}
