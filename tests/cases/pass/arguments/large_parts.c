// Parts of arrays that are larger than an int can count.
//# np: 1
//# mpi: mpich
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Count sizes[2] = {(MPI_Count)1 << 33, 8}, parts[2] = {1024, 4}, starts[2] = {(MPI_Count)1 << 32, 4}, size;
  MPI_Datatype tile;
  MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_BYTE, &tile);
  MPI_Type_size_c(tile, &size);
  MPI_Type_free(&tile);
  MPI_Finalize();
  return size != 4096;
}
