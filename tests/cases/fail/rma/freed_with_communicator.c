// A library keeps windows and a communicator as attributes of the communicator that it is given,
// and forgets one of the windows when that one is freed.
//# np: 2
#include <mpi.h>
#include <stdlib.h>

struct library {
  int local[4], other[4];
  MPI_Comm own;
  MPI_Win first, second;
};

static int clean_up(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)extra;
  struct library *library = value;
  MPI_Win_fence(0, library->first);
  MPI_Win_free(&library->first);
  MPI_Comm_free(&library->own);
  return MPI_SUCCESS;
}

static struct library *set_up(MPI_Comm comm) {
  struct library *library = calloc(1, sizeof *library);
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clean_up, &key, NULL);
  MPI_Comm_set_attr(comm, key, library);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_dup(MPI_COMM_WORLD, &library->own);
  MPI_Win_create(library->local, sizeof library->local, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &library->first);
  MPI_Win_create(library->other, sizeof library->other, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &library->second); //~ CS-WIN-05 operation
  MPI_Win_fence(0, library->first);
  return library;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 7;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  struct library *library = set_up(comm);
  MPI_Put(&value, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, library->first);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
