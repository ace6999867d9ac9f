// Offsets and types as they should be.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int part[8];
  MPI_File file, copy, more = MPI_FILE_NULL;
  MPI_Datatype every, twice;
  MPI_Type_vector(2, 1, 2, MPI_INT, &every);
  MPI_Type_commit(&every);
  MPI_Type_contiguous(2, MPI_INT, &twice);
  MPI_Type_commit(&twice);
  MPI_File_open(MPI_COMM_SELF, rank ? "files_arguments1.tmp" : "files_arguments0.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_set_view(file, 16, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_write_at(file, 2 - rank, part, 4, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_write(file, part, 1, every, MPI_STATUS_IGNORE);
  MPI_File_seek(file, 8, MPI_SEEK_SET);
  MPI_File_seek(file, -1, MPI_SEEK_CUR);
  MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
  MPI_File_set_view(file, 0, MPI_INT, twice, "native", MPI_INFO_NULL);
  MPI_File_close(&file);
  MPI_File_open(MPI_COMM_SELF, rank ? "files_copy1.tmp" : "files_copy0.tmp", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &copy);
  MPI_File_write(copy, part, 8, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&copy);
  MPI_File_open(MPI_COMM_SELF, rank ? "files_more1.tmp" : "files_more0.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &more);
  if (more != MPI_FILE_NULL)
    MPI_File_close(&more);
  MPI_Type_free(&every);
  MPI_Type_free(&twice);
  MPI_Finalize();
  return 0;
}
