// All ranks pass the same where they must, and what is their own elsewhere.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "collectives_alike_pass.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_Datatype type = rank == 0 ? MPI_INT : MPI_FLOAT;
  MPI_File_set_view(file, 16 * rank, type, type, "native", MPI_INFO_NULL);
  MPI_File_set_atomicity(file, 1);
  MPI_File_close(&file);
  int dims[2] = {2, 1}, periods[2] = {0, 0};
  MPI_Dims_create(2, 2, dims);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
