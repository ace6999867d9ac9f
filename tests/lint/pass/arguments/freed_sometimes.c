/* Objects that are freed on one side of a condition, and not used there any more, or made anew. */
#include <mpi.h>
#include <stdio.h>

static int data[8];

static void give_up(MPI_Comm comm) {
  fprintf(stderr, "no more\n");
  MPI_Abort(comm, 1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  if (argc > 5) {
    MPI_Type_free(&pair);
    give_up(MPI_COMM_WORLD);
  }
  for (int i = 0; i < 3; i++) {
    MPI_Bcast(data, 1, pair, 0, MPI_COMM_WORLD);
    if (i == 1) {
      MPI_Type_free(&pair);
      MPI_Type_contiguous(3, MPI_INT, &pair);
      MPI_Type_commit(&pair);
    }
  }
  if (argc > 2)
    MPI_Type_free(&pair);
  if (argc > 2)
    pair = MPI_INT;
  MPI_Bcast(data, 1, pair, 0, MPI_COMM_WORLD);
  MPI_Group all, one;
  const int first = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &first, &one);
  if (argc > 1) {
    MPI_Group_free(&all);
    printf("freed\n");
  }
  if (all != MPI_GROUP_NULL)
    MPI_Group_free(&all);
  MPI_Group_free(&one);
  MPI_Finalize();
}
