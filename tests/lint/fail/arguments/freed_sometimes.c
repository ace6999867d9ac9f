/* Objects that are freed on one side of a condition, and used whatever it says. */
#include <mpi.h>
#include <stdio.h>

static int data[8];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  if (rank > 0)
    MPI_Type_free(&pair); //~ CS-ARG-01 release possible
  MPI_Bcast(data, 1, pair, 0, MPI_COMM_WORLD); //~ CS-ARG-01 operation possible
  MPI_Group all, one;
  const int first = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &first, &one);
  if (argc > 1) {
    MPI_Group_free(&all); //~ CS-ARG-01 release possible
    printf("freed\n");
  }
  MPI_Group_free(&all); //~ CS-ARG-01 operation possible
  MPI_Group_free(&one);
  MPI_Finalize();
}
