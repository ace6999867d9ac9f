// MPI_Finalize frees nothing, which is no error: objects that are left are not told where nobody
// wants to know.
//# np: 2
//# options: --leaks=false
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm dup;
  MPI_Datatype type;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Finalize();
  return 0;
}
