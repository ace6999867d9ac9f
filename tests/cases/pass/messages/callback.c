// A message is received by a function that MPI calls back when a communicator is freed.
//# np: 2
#include <mpi.h>
#include <stddef.h>

static int received;

static int receive(MPI_Comm comm, int key, void *value, void *state) {
  (void)comm, (void)key, (void)value, (void)state;
  return MPI_Recv(&received, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, key, value = 7;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (rank == 0) {
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, receive, &key, NULL);
    MPI_Comm_set_attr(copy, key, &value);
  }
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return rank == 1 && received != 7;
}
