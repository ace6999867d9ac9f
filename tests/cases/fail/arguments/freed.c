/* Handles of objects that have been freed: copies are not reset with the original. */
#include <mpi.h>
#include <stdio.h>

static int values[4];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int size = 0, sum = 0;

  MPI_Datatype pair, pair_copy;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  pair_copy = pair;
  MPI_Type_free(&pair); //~ CS-ARG-01 release
  MPI_Type_size(pair_copy, &size); //~ CS-ARG-01 operation
  sum += size;
  MPI_Datatype none = MPI_DATATYPE_NULL;
  MPI_Type_commit(&none); //~ CS-ARG-01 operation

  MPI_Group group, group_copy;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  group_copy = group;
  MPI_Group_free(&group); //~ CS-ARG-01 release
  MPI_Group_size(group_copy, &size); //~ CS-ARG-01 operation
  sum += size;

  MPI_Comm comm, comm_copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  comm_copy = comm;
  MPI_Comm_free(&comm); //~ CS-ARG-01 release
  MPI_Comm_free(&comm_copy); //~ CS-ARG-01 operation

  MPI_Op op = MPI_OP_NULL;
  MPI_Op_free(&op); //~ CS-ARG-01 operation
  printf("%d %d\n", sum > 0, values[0]);
  MPI_Finalize();
  return 0;
}
