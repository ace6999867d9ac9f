/* Objects that are freed after their last use, and others that get their handles. */
#include <mpi.h>
#include <stdio.h>

static int values[4];

static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int size = 0, ranks = 0, wrong = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  for (int round = 0; round < 3; round++) {
    MPI_Datatype pair, pair_copy;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    pair_copy = pair;
    MPI_Type_size(pair_copy, &size);
    wrong += size != 2 * (int)sizeof(int);
    MPI_Bcast(values, 2, pair_copy, 0, MPI_COMM_WORLD);
    MPI_Type_free(&pair);

    /* Two handles of one group: each is freed. */
    MPI_Group group, other;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &other);
    MPI_Group_free(&group);
    MPI_Group_size(other, &size);
    wrong += size != ranks;
    MPI_Group_free(&other);

    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_size(comm, &size);
    wrong += size != ranks;
    MPI_Comm_free(&comm);

    MPI_Op op;
    int one = 1, all = 0;
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&one, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
    wrong += all != ranks;
    MPI_Op_free(&op);
  }

  /* A datatype that was freed lives on within another, which hands it out again. */
  MPI_Datatype inner, outer, again;
  int blocks[2] = {1, 1}, integers[3];
  MPI_Aint places[2] = {0, 8}, addresses[2];
  MPI_Datatype types[2], parts[2];
  MPI_Type_vector(2, 1, 2, MPI_CHAR, &inner);
  types[0] = types[1] = inner;
  MPI_Type_create_struct(2, blocks, places, types, &outer);
  MPI_Type_free(&inner);
  MPI_Type_get_contents(outer, 3, 2, 2, integers, addresses, parts);
  again = parts[0];
  MPI_Type_size(again, &size);
  wrong += size != 2;
  MPI_Type_free(&parts[0]);
  MPI_Type_free(&parts[1]);
  MPI_Type_free(&outer);

  printf("%d\n", wrong);
  MPI_Finalize();
  return wrong != 0;
}
