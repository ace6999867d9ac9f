// A handler of the program's own is told of the error; and errors that a program finds out
// something by.
//# np: 2
#include <mpi.h>

static int handled;

static void handle(MPI_Comm *comm, int *error, ...) {
  (void)comm, (void)error;
  handled++;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, line[8] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File file;
  int missing = MPI_File_open(MPI_COMM_SELF, "/nowhere/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS;
  if (!missing) MPI_File_close(&file);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (rank == 0) {
    MPI_Send(line, 8, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(line, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  return missing && handled == rank ? 0 : 1;
}
