// The library ends the program over an attribute that MPI keeps.
//# np: 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_delete_attr(MPI_COMM_SELF, MPI_TAG_UB); //~ CS-ERR-01 operation
  MPI_Finalize();
  return 0;
}
