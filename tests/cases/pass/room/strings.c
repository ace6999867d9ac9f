/* Strings that MPI stores need room for the longest that the library has, whatever this one's
 * length. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static char version[MPI_MAX_LIBRARY_VERSION_STRING], host[MPI_MAX_PROCESSOR_NAME], kind[MPI_MAX_OBJECT_NAME];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int length, found = 0, sum = 0;
  MPI_Get_processor_name(host, &length);
  sum += host[0] != 0;
  MPI_Get_library_version(version, &length);
  sum += version[0] != 0;

  char *name = malloc(MPI_MAX_OBJECT_NAME);
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  sum += name[0] == 'M';
  MPI_Type_get_name(MPI_INT, kind, &length);
  sum += kind[0] == 'M';
  char *error = malloc(MPI_MAX_ERROR_STRING);
  MPI_Error_string(MPI_ERR_TAG, error, &length);
  sum += error[0] != 0;

  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "k", "value");
  char *key = malloc(MPI_MAX_INFO_KEY + 1), *text = malloc(65);
  MPI_Info_get_nthkey(info, 0, key);
  sum += key[0] == 'k';
  MPI_Info_get(info, "k", 64, text, &found);
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
