// Buffers of split collectives are used between their beginning and end.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int part[64];
  for (int i = 0; i < 64; i++) part[i] = rank;
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "files_split.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  static int read[64];
  MPI_File_write_at_all_begin(file, rank * sizeof part, part, 64, MPI_INT); //~ CS-BUF-01 operation
  part[7] = -1; //~ CS-BUF-01 access
  MPI_File_write_at_all_end(file, part, MPI_STATUS_IGNORE);
  MPI_File_read_at_all_begin(file, rank * sizeof part, read, 64, MPI_INT); //~ CS-BUF-02 operation
  int seen = read[63]; //~ CS-BUF-02 access
  MPI_File_read_at_all_end(file, read, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return seen == 99;
}
