// A library keeps a window, a communicator and a receive as attributes of the communicator that it
// is given: they are completed and freed when that one is.
//# np: 2
#include <mpi.h>
#include <stdlib.h>

struct library {
  int local[4], message;
  MPI_Comm own;
  MPI_Win window;
  MPI_Request request;
};

static int clean_up(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)extra;
  struct library *library = value;
  MPI_Wait(&library->request, MPI_STATUS_IGNORE);
  MPI_Win_fence(0, library->window);
  MPI_Win_free(&library->window);
  MPI_Comm_free(&library->own);
  free(library);
  return MPI_SUCCESS;
}

static struct library *set_up(MPI_Comm comm, int rank) {
  struct library *library = calloc(1, sizeof *library);
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clean_up, &key, NULL);
  MPI_Comm_set_attr(comm, key, library);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_dup(MPI_COMM_WORLD, &library->own);
  MPI_Win_create(library->local, sizeof library->local, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &library->window);
  MPI_Irecv(&library->message, 1, MPI_INT, 1 - rank, 0, library->own, &library->request);
  MPI_Win_fence(0, library->window);
  return library;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 7;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  struct library *library = set_up(comm, rank);
  MPI_Put(&value, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, library->window);
  MPI_Send(&value, 1, MPI_INT, 1 - rank, 0, library->own);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
