// Two ranks wait for a token, in a function by which a library copies its attribute: one has the
// order wrong.
//# np: 2
//# flags: -O0
//# options: --stuck-after 1
#include <mpi.h>
#include <stddef.h>

static int rank;

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *copied, int *has_copy) {
  (void)key, (void)extra, (void)value, (void)copied;
  int token = 1;
  *has_copy = 0;
  if (rank == 0) {
    MPI_Recv(&token, 1, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
    MPI_Send(&token, 1, MPI_INT, 1, 0, comm);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
    MPI_Send(&token, 1, MPI_INT, 0, 0, comm);
  }
  return MPI_SUCCESS;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int key;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm comm, next;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(comm, key, NULL);
  MPI_Comm_dup(comm, &next);
  MPI_Comm_free(&next);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&key);
  MPI_Finalize();
  return 0;
}
