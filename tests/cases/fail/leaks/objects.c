// Objects of every kind are made and never freed; of three alike two are.
//# np: 2
//# options: --leaks
#include <mpi.h>

static void largest(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *n; i++) {
    int a = ((int *)in)[i], *b = &((int *)inout)[i];
    *b = a > *b ? a : *b;
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 1, result, chosen = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm dup, part;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);                 //~ CS-OBJ-01 operation
  MPI_Comm_split(dup, rank, 0, &part);                //~ CS-OBJ-01 operation
  MPI_Comm copy, same;
  MPI_Request made;
  MPI_Comm_idup(dup, &copy, &made);                   //~ CS-OBJ-01 operation
  MPI_Wait(&made, MPI_STATUS_IGNORE);
  MPI_Group all, one;
  MPI_Comm_group(dup, &all);                          //~ CS-OBJ-01 operation
  MPI_Group_incl(all, 1, &chosen, &one);              //~ CS-OBJ-01 operation
  MPI_Comm_create_group(dup, all, 0, &same);          //~ CS-OBJ-01 operation
  MPI_Op op;
  MPI_Op_create(largest, 1, &op);                     //~ CS-OBJ-01 operation
  MPI_Allreduce(&value, &result, 1, MPI_INT, op, dup);
  MPI_Request request;
  MPI_Recv_init(&value, 1, MPI_INT, 0, 0, dup, &request); //~ CS-OBJ-01 operation
  MPI_Datatype types[3];
  for (int i = 0; i < 3; i++) {
    MPI_Type_contiguous(2 + i, MPI_INT, &types[i]);   //~ CS-OBJ-01 operation
  }
  MPI_Type_free(&types[0]);
  MPI_Type_free(&types[2]);
  MPI_Finalize();
  return 0;
}
