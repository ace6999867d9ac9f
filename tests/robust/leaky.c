/* With -DLIBRARY a library that leaks a communicator, else a program that leaks a datatype of its
 * own. */
#include <mpi.h>

void solve(MPI_Comm comm);

#ifdef LIBRARY
void solve(MPI_Comm comm) {
  MPI_Comm own;
  MPI_Comm_dup(comm, &own);
}
#else
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  solve(MPI_COMM_WORLD);
  if (argc > 1) {
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
  }
  MPI_Finalize();
  return 0;
}
#endif
