// A question after the last session has ended.
//# np: 1
//# mpi: mpich
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Session session;
  MPI_Group all;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://SELF", &all);
  MPI_Comm_create_from_group(all, "tests.outside", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&all);
  int rank = 0;
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  MPI_Comm_rank(MPI_COMM_SELF, &rank); //~ CS-INI-01 operation
  return rank;
}
