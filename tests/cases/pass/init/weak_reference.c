// Looks by weak references whether the library has newer calls: as many as without commsan, which
// has entry points for all.
//# np: 2
//# prints: asked
#include <mpi.h>
#include <stdio.h>

#pragma weak MPI_Type_size_c
#pragma weak PMPI_Type_size_c
#pragma weak MPI_Abi_get_version
#pragma weak PMPI_Abi_get_version
int MPI_Type_size_c(MPI_Datatype type, MPI_Count *size);
int PMPI_Type_size_c(MPI_Datatype type, MPI_Count *size);
int MPI_Abi_get_version(int *major, int *minor);
int PMPI_Abi_get_version(int *major, int *minor);

// In constant memory.
static int (*const volatile abi_version)(int *, int *) = MPI_Abi_get_version;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int wrong = !MPI_Abi_get_version != !PMPI_Abi_get_version || !abi_version != !PMPI_Abi_get_version;
  wrong |= !MPI_Type_size_c != !PMPI_Type_size_c;
  MPI_Count large = 8;
  if (MPI_Type_size_c) wrong |= MPI_Type_size_c(MPI_DOUBLE, &large) != MPI_SUCCESS || large != 8;
  puts("asked");
  MPI_Finalize();
  return wrong;
}
