// Sessions, without MPI_Init: what is done in communicators of their own is checked as ever.
//# np: 2
//# mpi: mpich
#include <mpi.h>
#include <stdio.h>

static int shared[16], out[16];

int main(void) {
  MPI_Session session;
  MPI_Group all;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Comm_create_from_group(all, "tests.session", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&all);

  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size); //~ CS-ARG-01 operation

  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(out, 16, MPI_INT, 1, 0, comm, &request); //~ CS-BUF-01 operation
    out[3] = 1; //~ CS-BUF-01 access
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(out, 16, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  }

  MPI_Win window;
  MPI_Win_create(shared, sizeof shared, sizeof(int), MPI_INFO_NULL, comm, &window);
  MPI_Win_fence(0, window);
  if (rank == 0) {
    MPI_Put(out, 1, MPI_INT, 1, 7, 1, MPI_INT, window); //~ CS-RMA-03 operation
  } else {
    shared[7] = 2; //~ CS-RMA-03 access
  }
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);

  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Bcast(&sum, 1, MPI_INT, rank, comm); //~ CS-COL-02 access //~ CS-COL-02 operation
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  printf("%d %d\n", sum, shared[7]);
  return 0;
}
