// One rank is in a barrier, the others in a collective write, which it has left out.
//# np: 3
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int part[64];
  for (int i = 0; i < 64; i++) part[i] = rank;
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "files_crossing.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  if (rank == 1) MPI_Barrier(MPI_COMM_WORLD); else MPI_File_write_at_all(file, rank * sizeof part, part, 64, MPI_INT, MPI_STATUS_IGNORE); //~ CS-COL-05 access //~ CS-COL-05 operation
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
