// A type that was in order is freed; another one, which often has its handle, is committed as well,
// and used at the same place.
//# np: 1
#include <mpi.h>

static void send(int *values, MPI_Datatype pair) {
  MPI_Sendrecv(values, 1, pair, 0, 0, values + 2, 1, pair, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  static int values[4];
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int time = 0; time < 2; time++) {
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    send(values, pair);
    MPI_Type_free(&pair);
  }
  MPI_Finalize();
  return 0;
}
