/* Strings that MPI stores need room for the longest that the library has, whatever this one's length. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static char version[MPI_MAX_LIBRARY_VERSION_STRING - 10];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int length, found = 0, sum = 0;
  char host[100];
  MPI_Get_processor_name(host, &length);  //~ CS-BUF-11 operation
  sum += host[0] != 0;
  MPI_Get_library_version(version, &length);  //~ CS-BUF-11 operation
  sum += version[0] != 0;

  char *name = malloc(40);
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);  //~ CS-BUF-11 operation
  sum += name[0] == 'M';
  char kind[24];
  MPI_Type_get_name(MPI_INT, kind, &length);  //~ CS-BUF-11 operation
  sum += kind[0] == 'M';
  char *error = malloc(128);
  MPI_Error_string(MPI_ERR_TAG, error, &length);  //~ CS-BUF-11 operation
  sum += error[0] != 0;

  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "k", "value");
  struct {
    char key[8];
  } of;
  MPI_Info_get_nthkey(info, 0, of.key);  //~ CS-BUF-11 operation
  sum += of.key[0] == 'k';
  char value[6];
  MPI_Info_get(info, "k", 64, value, &found);  //~ CS-BUF-11 operation
  sum += found && value[0] == 'v';
  MPI_Info_free(&info);

  printf("%d right\n", sum);
  free(error);
  free(name);
  MPI_Finalize();
  return 0;
}
