// A library completes and frees what it has made when MPI_COMM_SELF is freed, at the beginning of
// MPI_Finalize.
//# np: 2
#include <mpi.h>
#include <stdlib.h>

struct library {
  int local[4], other[4];
  MPI_Win first, second;
  MPI_Request request;
  int message;
};

static int clean_up(MPI_Comm self, int key, void *value, void *extra) {
  (void)self, (void)key, (void)extra;
  struct library *library = value;
  MPI_Wait(&library->request, MPI_STATUS_IGNORE);
  MPI_Win_fence(0, library->first);
  MPI_Win_free(&library->first);
  MPI_Win_free(&library->second);
  free(library);
  return MPI_SUCCESS;
}

static struct library *set_up(int rank) {
  struct library *library = calloc(1, sizeof *library);
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clean_up, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, library);
  MPI_Comm_free_keyval(&key);
  MPI_Win_create(library->local, sizeof library->local, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &library->first);
  MPI_Win_create(library->other, sizeof library->other, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &library->second);
  MPI_Irecv(&library->message, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &library->request);
  MPI_Win_fence(0, library->first);
  return library;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 7;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  struct library *library = set_up(rank);
  MPI_Put(&value, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, library->first);
  MPI_Send(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
