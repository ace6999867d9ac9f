// One-sided operations on ranks and with types that do not exist.
#include <mpi.h>

static void smaller(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((int *)inout)[i] -= ((int *)in)[i];
}

int main(int argc, char **argv) {
  int rank, size, value = 0, memory[4] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  if (rank == 0) {
    MPI_Put(&value, 1, MPI_INT, size, 0, 1, MPI_INT, win); //~ CS-ARG-01 operation ranks=0
    MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_DATATYPE_NULL, win); //~ CS-ARG-01 operation ranks=0
    MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_OP_NULL, win); //~ CS-ARG-01 operation ranks=0
    MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_NO_OP, win); //~ CS-ARG-01 operation ranks=0
    MPI_Op own;
    MPI_Op_create(smaller, 0, &own);
    MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, own, win); //~ CS-ARG-01 operation ranks=0
    MPI_Op_free(&own);
    MPI_Put(&value, 1, MPI_INT, 1, 0, -1, MPI_INT, win); //~ CS-ARG-01 operation ranks=0
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
