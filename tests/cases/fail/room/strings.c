/* Strings that MPI stores need room for the longest that the library has, whatever this one's
 * length. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

// Libraries fill what they are promised: where these lie, a little more is free.
static char version[MPI_MAX_LIBRARY_VERSION_STRING - 6], host[MPI_MAX_PROCESSOR_NAME - 6], kind[MPI_MAX_OBJECT_NAME - 6];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int length, found = 0, sum = 0;
  MPI_Get_processor_name(host, &length);  //~ CS-BUF-11 operation
  sum += host[0] != 0;
  MPI_Get_library_version(version, &length);  //~ CS-BUF-11 operation
  sum += version[0] != 0;

  char *name = malloc(57);
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);  //~ CS-BUF-11 operation
  sum += name[0] == 'M';
  MPI_Type_get_name(MPI_INT, kind, &length);  //~ CS-BUF-11 operation
  sum += kind[0] == 'M';
  char *error = malloc(250);
  MPI_Error_string(MPI_ERR_TAG, error, &length);  //~ CS-BUF-11 operation
  sum += error[0] != 0;

  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "k", "value");
  char *key = malloc(30), *text = malloc(57);
  MPI_Info_get_nthkey(info, 0, key);  //~ CS-BUF-11 operation
  sum += key[0] == 'k';
  MPI_Info_get(info, "k", 64, text, &found);  //~ CS-BUF-11 operation
  sum += found && text[0] == 'v';
  MPI_Info_free(&info);

  printf("%d right\n", sum);
  free(text);
  free(key);
  free(error);
  free(name);
  MPI_Finalize();
  return 0;
}
