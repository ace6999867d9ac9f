// Numbers in arrays, and others, that are there.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int rank, below, above, outer;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 1}, (int[]){1, 1}, 0, &grid);
  MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
  MPI_Cart_shift(grid, 1, 1, &below, &above);
  MPI_Group all, part = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 2, (int[]){0, 1}, &part);
  MPI_Group_translate_ranks(all, 2, (int[]){0, MPI_PROC_NULL}, all, (int[]){0, 0});
  MPI_Datatype tile = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, (int[]){8, 8}, (int[]){4, 4}, (int[]){0, 4}, MPI_ORDER_C, MPI_INT, &tile);
  MPI_Comm_size(MPI_COMM_WORLD, &outer);
  if (tile != MPI_DATATYPE_NULL) MPI_Type_free(&tile);
  MPI_Datatype none = MPI_DATATYPE_NULL, copy, record = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, (int[]){8, 8}, (int[]){4, 1}, (int[]){0, 0}, MPI_ORDER_C, MPI_INT, &none);
  if (none != MPI_DATATYPE_NULL) MPI_Type_free(&none);
  MPI_Type_dup(MPI_INT, &copy);
  MPI_Datatype members[2] = {MPI_INT, copy};
  MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4}, members, &record);
  MPI_Type_free(&copy);
  if (record != MPI_DATATYPE_NULL) MPI_Type_free(&record);
  MPI_Comm graph = MPI_COMM_NULL, own, other = MPI_COMM_NULL;
  MPI_Graph_create(MPI_COMM_WORLD, 2, (int[]){1, 2}, (int[]){1, 0}, 0, &graph);
  if (graph != MPI_COMM_NULL) MPI_Comm_free(&graph);
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  MPI_Comm_create(MPI_COMM_WORLD, all, &other);
  if (other != MPI_COMM_NULL) MPI_Comm_free(&other);
  MPI_Comm_free(&own);
  if (part != MPI_GROUP_NULL) MPI_Group_free(&part);
  MPI_Group_free(&all);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
