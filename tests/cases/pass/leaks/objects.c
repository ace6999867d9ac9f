// Objects of every kind are made and freed, some by the library that has made them, at the end;
// what is nothing needs no freeing.
//# np: 2
//# options: --leaks
#include <mpi.h>
#include <stddef.h>

static void largest(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *n; i++) {
    int a = ((int *)in)[i], *b = &((int *)inout)[i];
    *b = a > *b ? a : *b;
  }
}

static MPI_Comm dup;
static MPI_Datatype type;

static int clean_up(MPI_Comm self, int key, void *value, void *extra) {
  (void)self, (void)key, (void)value, (void)extra;
  MPI_Type_free(&type);
  return MPI_Comm_free(&dup);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 1, result, chosen = 0, key;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clean_up, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &dup);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Type_vector(2, 1, 3, MPI_INT, &type);
  MPI_Comm part, none;
  MPI_Comm_split(dup, rank == 0 ? MPI_UNDEFINED : 1, 0, &none);
  if (none != MPI_COMM_NULL) {
    MPI_Comm_free(&none);
  }
  MPI_Comm_split(dup, rank, 0, &part);
  MPI_Comm_disconnect(&part);
  MPI_Comm copy;
  MPI_Request made;
  MPI_Comm_idup(dup, &copy, &made);
  MPI_Wait(&made, MPI_STATUS_IGNORE);
  MPI_Comm_free(&copy);
  // One group that is asked for twice is freed twice.
  MPI_Group all, again, one, empty;
  MPI_Comm_group(dup, &all);
  MPI_Comm_group(dup, &again);
  MPI_Group_incl(all, 1, &chosen, &one);
  MPI_Group_incl(all, 0, NULL, &empty);
  MPI_Group_free(&all);
  MPI_Group_free(&again);
  MPI_Group_free(&one);
  MPI_Op op;
  MPI_Op_create(largest, 1, &op);
  MPI_Allreduce(&value, &result, 1, MPI_INT, op, dup);
  MPI_Op_free(&op);
  MPI_Request request;
  MPI_Recv_init(&value, 1, MPI_INT, 1 - rank, 0, dup, &request);
  MPI_Start(&request);
  MPI_Send(&rank, 1, MPI_INT, 1 - rank, 0, dup);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  MPI_Finalize();
  return 0;
}
