// Unless told otherwise, commsan looks for all objects that are left but groups. One line made
// three communicators.
//# np: 2
#include <mpi.h>

static void keep(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)in, (void)inout, (void)n, (void)type;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int value = 0;
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  for (int i = 0; i < 3; i++) {
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup); //~ CS-OBJ-01 operation count=6
  }
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair); //~ CS-OBJ-01 operation
  MPI_Op op;
  MPI_Op_create(keep, 1, &op); //~ CS-OBJ-01 operation
  MPI_Request request;
  MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request); //~ CS-OBJ-01 operation
  MPI_Finalize();
  return 0;
}
