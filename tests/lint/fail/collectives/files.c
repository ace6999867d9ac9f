// All who have opened a file together set its view, read it and close it together.
#include <mpi.h>

static int data[4], parts[4];

int main(int argc, char **argv) {
  MPI_File all, own;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_RDWR, MPI_INFO_NULL, &all);
  if (rank == 0)
    MPI_File_set_info(all, MPI_INFO_NULL); //~ CS-COL-01 access
  if (rank == 0) {
    MPI_File_open(MPI_COMM_SELF, "log", MPI_MODE_RDWR, MPI_INFO_NULL, &own);
    MPI_File_write_all(own, parts, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&own);
  }
  MPI_File_read_all_begin(all, data, 4, MPI_INT);
  MPI_File_read_all_end(all, data, MPI_STATUS_IGNORE);
  if (rank == 0)
    MPI_File_write_all_begin(all, data, 4, MPI_INT); //~ CS-COL-01 access
  if (rank == 0)
    MPI_File_write_all_end(all, data, MPI_STATUS_IGNORE); //~ CS-COL-01 access
  if (rank == 0)
    MPI_File_sync(all); //~ CS-COL-01 access
  MPI_File_close(&all);
  MPI_Finalize();
  return 0;
}
