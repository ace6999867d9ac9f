// A rank takes no part in what another does to the file of both, and waits for its message.
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int part[64];
  for (int i = 0; i < 64; i++) part[i] = rank;
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "files_left_out.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  if (rank == 1) {
    MPI_File_set_size(file, 4096); //~ CS-DLK-01 wait
    MPI_Send(part, 64, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(part, 64, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
  }
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
