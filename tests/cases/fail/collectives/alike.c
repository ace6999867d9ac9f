// One rank passes another value where all must pass the same.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "collectives_alike_fail.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_Datatype type = rank == 0 ? MPI_INT : MPI_DOUBLE;
  MPI_File_set_view(file, 16 * rank, type, type, "native", MPI_INFO_NULL); //~ CS-COL-08 access //~ CS-COL-08 operation
  MPI_File_set_atomicity(file, rank == 0); //~ CS-COL-08 access //~ CS-COL-08 operation
  MPI_File_close(&file);
  int dims[2] = {2, 1}, periods[2] = {0, 0};
  if (rank == 1) dims[0] = 1, dims[1] = 2;
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid); //~ CS-COL-08 access //~ CS-COL-08 operation
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
