// A split collective is begun, and the file closed without its end.
//# np: 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int part[64];
  for (int i = 0; i < 64; i++) part[i] = rank;
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "files_split_open.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_write_all_begin(file, part, 64, MPI_INT); //~ CS-OBJ-03 operation //~ CS-REQ-01 operation
  MPI_File_close(&file); //~ CS-OBJ-03 access
  MPI_Finalize();
  return 0;
}
