/* Constants that look wrong and are allowed where they stand, or are never used. */
#include <mpi.h>
#include <stddef.h>

static int data[8], all[64];

static void two_sided(MPI_Comm comm, int next) {
  MPI_Request request;
  MPI_Send(data, 1, MPI_INT, next, 0, comm);
  MPI_Send(NULL, 0, MPI_INT, next, 0, comm);
  MPI_Send(NULL, 4, MPI_DATATYPE_NULL, MPI_PROC_NULL, -4, comm);
  MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
  MPI_Irecv(data, 4, MPI_INT, next, 0, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Sendrecv(data, 1, MPI_INT, next, 0, NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, MPI_ANY_TAG, comm,
               MPI_STATUS_IGNORE);
}

static void collective(MPI_Comm comm, MPI_Comm others, int rank, int *counts, int *displs) {
  int root = 0, status;
  MPI_Bcast(data, 1, MPI_INT, root, comm);
  /* Of two groups, one says MPI_ROOT or MPI_PROC_NULL. */
  MPI_Bcast(data, 1, MPI_INT, MPI_ROOT, others);
  MPI_Bcast(NULL, 1, MPI_INT, MPI_PROC_NULL, others);
  MPI_Bcast(NULL, 0, MPI_INT, 0, comm);
  MPI_Allreduce(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, comm);
  MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, 1, MPI_INT, comm);
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, all, counts, displs, MPI_INT, comm);
  MPI_Topo_test(MPI_COMM_WORLD, &status);
  /* What is received matters on the root alone. */
  if (rank == 0)
    MPI_Gather(data, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
  else
    MPI_Gather(data, 1, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, 0, comm);
}

static void one_sided(MPI_Win win, int next) {
  static int old;
  MPI_Put(data, 1, MPI_INT, next, 0, 1, MPI_INT, win);
  MPI_Put(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, 0, MPI_INT, win);
  MPI_Accumulate(data, 1, MPI_INT, next, 4, 1, MPI_INT, MPI_REPLACE, win);
  MPI_Fetch_and_op(NULL, &old, MPI_INT, next, 8, MPI_NO_OP, win);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Win win;
  const int neighbour = -5; /* there is none in this build */
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (neighbour >= 0)
    MPI_Send(data, 1, MPI_INT, neighbour, 0, MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  two_sided(comm, (rank + 1) % size);
  int counts[64] = {0}, displs[64] = {0};
  collective(comm, comm, rank, counts, displs);
  MPI_Win_create(all, sizeof all, 4, MPI_INFO_NULL, comm, &win);
  MPI_Win_fence(0, win);
  one_sided(win, (rank + 1) % size);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Comm_free(&comm);
  MPI_Finalize();
}
