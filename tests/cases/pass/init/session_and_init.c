// A library has a session of its own beside MPI_Init; it begins before that and ends after
// MPI_Finalize.
//# np: 2
//# mpi: mpich
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Session session;
  MPI_Group all;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Init(&argc, &argv);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Comm_create_from_group(all, "tests.and_init", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&all);
  int rank, size, sum = 0, other = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Sendrecv(&rank, 1, MPI_INT, size - 1 - rank, 0, &other, 1, MPI_INT, size - 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  MPI_Session_finalize(&session);
  printf("%d %d\n", sum, other);
  return sum != 1 || other != 1 - rank;
}
