// What may be asked before MPI is there, and after it.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, known, version, subversion, length;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Initialized(&known);
  int wrong = known;
  MPI_Get_version(&version, &subversion);
  MPI_Get_library_version(text, &length);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  MPI_Finalized(&known);
  return wrong + !known;
}
