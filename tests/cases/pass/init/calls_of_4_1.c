// Calls that MPI 4.1 has added and that have no buffers: error classes that are removed, types with
// an index, what the hardware is.
//# needs: MPI_Remove_error_class MPI_Type_get_value_index MPI_Get_hw_resource_info
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int wrong = 0, class, code, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  MPI_Add_error_string(code, "own");
  MPI_Error_string(code, text, &length);
  wrong |= strcmp(text, "own") != 0;
  MPI_Remove_error_string(code);
  MPI_Remove_error_code(code);
  MPI_Remove_error_class(class);

  // Predefined types, which nobody frees; of some there is none.
  MPI_Datatype pair, none;
  MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
  wrong |= pair == MPI_DATATYPE_NULL;
  MPI_Type_get_value_index(MPI_CHAR, MPI_DOUBLE, &none);
  wrong |= none != MPI_DATATYPE_NULL;
  struct { double value; int index; } mine, most;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  memset(&mine, 0, sizeof mine);
  mine.value = mine.index = rank;
  MPI_Allreduce(&mine, &most, 1, pair, MPI_MAXLOC, MPI_COMM_WORLD);
  wrong |= most.index != 1;

  MPI_Info info;
  int keys;
  MPI_Get_hw_resource_info(&info);
  MPI_Info_get_nkeys(info, &keys);
  wrong |= keys < 0;
  MPI_Info_free(&info);
  MPI_Finalize();
  return wrong;
}
