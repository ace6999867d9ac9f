// A key is freed while an attribute has it: by a copy of the key that one is still found and
// deleted.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  static int value = 7;
  int key, flag = 0, *found = NULL, deleted = 1;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  int copy = key;
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_get_attr(MPI_COMM_WORLD, copy, &found, &flag);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, copy);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_set_attr(pair, key, &value);
  MPI_Type_free(&pair);
  MPI_Type_free_keyval(&key);
  printf("%d %d\n", flag, flag ? *found : deleted);
  MPI_Finalize();
  return !flag || *found != 7;
}
