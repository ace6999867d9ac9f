// A session that nothing ends.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <stdio.h>

int main(void) {
  MPI_Session session;
  char name[MPI_MAX_PSET_NAME_LEN + 1];
  int sets, length = sizeof name;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session); //~ CS-INI-02 operation
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
  MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
  printf("%d sets, the first is %s\n", sets, name);
  return 0;
}
