// Keys of attributes that are not there any more.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  static int value = 7;
  int key, other, flag = 0, *found = &value;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other, NULL);
  int copy = other;
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free_keyval(&other);
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &found, &flag); //~ CS-ARG-01 operation
  MPI_Comm_set_attr(MPI_COMM_WORLD, copy, &value); //~ CS-ARG-01 operation
  MPI_Comm_free_keyval(&key); //~ CS-ARG-01 operation
  printf("%d %d\n", flag, *found);
  MPI_Finalize();
  return 0;
}
