/* Constants that calls do not allow, each in a way of its own. */
#include <mpi.h>
#include <stddef.h>

static int data[8], all[64];

static void two_sided(MPI_Comm comm, int next) {
  MPI_Request request;
  MPI_Send(data, -1, MPI_INT, next, 0, comm);                  //~ CS-ARG-01 operation
  MPI_Send(data, 1, MPI_DATATYPE_NULL, next, 0, comm);         //~ CS-ARG-01 operation
  MPI_Send(data, 1, MPI_INT, -7, 0, comm);                     //~ CS-ARG-01 operation
  MPI_Send(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm);         //~ CS-ARG-01 operation
  MPI_Send(data, 1, MPI_INT, next, MPI_ANY_TAG, comm);         //~ CS-ARG-01 operation
  MPI_Send(data, 1, MPI_INT, next, 0, MPI_COMM_NULL);          //~ CS-ARG-01 operation
  MPI_Recv(data, 1, MPI_INT, next, -12, comm, MPI_STATUS_IGNORE); //~ CS-ARG-01 operation
  MPI_Irecv(NULL, 4, MPI_INT, next, 0, comm, &request);        //~ CS-ARG-01 operation
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Isend(data, 4, MPI_INT, next, 0, comm, NULL);            //~ CS-ARG-01 operation
  MPI_Send(data, 1, (MPI_Datatype)0, next, 0, comm);           //~ CS-ARG-01 operation
  MPI_Send(data, 1, MPI_INT, next, 0, (MPI_Comm)0);            //~ CS-ARG-01 operation
}

static void collective(MPI_Comm comm, int *counts, int *displs) {
  int coords[2];
  int root = -9; /* never changed */
  MPI_Bcast(data, 1, MPI_INT, root, comm);                     //~ CS-ARG-01 operation
  MPI_Allreduce(data, all, 1, MPI_INT, MPI_OP_NULL, comm);     //~ CS-ARG-01 operation
  MPI_Allreduce(data, all, 1, MPI_INT, MPI_REPLACE, comm);     //~ CS-ARG-01 operation
  MPI_Allgather(data, -1, MPI_INT, all, 1, MPI_INT, comm);     //~ CS-ARG-01 operation
  MPI_Bcast(NULL, 4, MPI_INT, 0, comm);  //~ CS-ARG-01 operation
  MPI_Alltoallv(data, counts, displs, MPI_DATATYPE_NULL, all, counts, displs, MPI_INT, comm); //~ CS-ARG-01 operation possible
  MPI_Cart_coords(MPI_COMM_WORLD, 0, 2, coords);               //~ CS-ARG-01 operation
}

static void one_sided(MPI_Win win, int next) {
  MPI_Put(data, 1, MPI_INT, -5, 0, 1, MPI_INT, win);           //~ CS-ARG-01 operation
  MPI_Put(data, 1, MPI_INT, next, 0, -1, MPI_INT, win);        //~ CS-ARG-01 operation
  MPI_Put(data, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_WIN_NULL); //~ CS-ARG-01 operation
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Win win;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_size(MPI_COMM_NULL, &size); //~ CS-ARG-01 operation
  two_sided(MPI_COMM_WORLD, (rank + 1) % size);
  int counts[64] = {0}, displs[64] = {0};
  collective(MPI_COMM_WORLD, counts, displs);
  MPI_Win_create(all, sizeof all, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win); //~ CS-ARG-01 operation
  MPI_Win_fence(0, win);
  one_sided(win, (rank + 1) % size);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Finalize();
}
