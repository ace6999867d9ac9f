// An attribute of the program's own is deleted, by a function that calls MPI.
//# np: 1
#include <mpi.h>

static int forget(MPI_Comm comm, int key, void *value, void *extra) {
  (void)key, (void)extra;
  MPI_Barrier(comm);
  return MPI_Request_free(value);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int key, word = 0;
  MPI_Request request;
  MPI_Recv_init(&word, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, 0);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &request);
  MPI_Comm_delete_attr(MPI_COMM_SELF, key);
  MPI_Comm_free_keyval(&key);
  MPI_Finalize();
  return 0;
}
