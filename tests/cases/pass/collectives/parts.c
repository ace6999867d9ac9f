// Amounts of each pair of ranks fit wherever they are called from, in place, with none, between
// groups.
//# np: 4
#include <mpi.h>
#include <stddef.h>

static int data[16], got[16], places[4] = {0, 4, 8, 12};

static void here(const int *counts, const int *expected, MPI_Comm comm) {
  MPI_Alltoallv(data, counts, places, MPI_INT, got, expected, places, MPI_INT, comm);
}

static void there(const int *counts, const int *expected, MPI_Comm comm) {
  MPI_Alltoallv(data, counts, places, MPI_INT, got, expected, places, MPI_INT, comm);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size = 4, counts[4], expected[4], none[4] = {0}, same[4] = {2, 2, 2, 2};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half, copy, between;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  for (int i = 0; i < size; i++) {
    counts[i] = rank < i ? 3 : i % 2;
    expected[i] = i < rank ? 3 : rank % 2;
  }

  // The first collective of one rank is called from where the second one of another is.
  for (int step = 0; step < 3; step++) {
    if ((rank + step) % 2) {
      here(counts, expected, MPI_COMM_WORLD);
      there(same, same, MPI_COMM_WORLD);
    } else {
      there(counts, expected, MPI_COMM_WORLD);
      here(same, same, MPI_COMM_WORLD);
    }
  }
  here(counts, expected, copy);

  // Of nothing the type does not matter, and in place what is passed lies where the other's goes.
  MPI_Alltoallv(data, none, places, rank % 2 ? MPI_CHAR : MPI_DOUBLE, got, none, places, MPI_INT, copy);
  MPI_Alltoallv(MPI_IN_PLACE, none, none, MPI_DATATYPE_NULL, got, same, places, MPI_INT, copy);

  // A root keeps its part, and ranks of a part have other numbers.
  int me, mine[4] = {rank};
  MPI_Comm_rank(half, &me);
  int sizes[2] = {1, 3};
  MPI_Gatherv(mine, sizes[me], MPI_INT, got, sizes, places, MPI_INT, 1, half);
  if (me == 1) {
    MPI_Scatterv(data, sizes, places, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 1, half);
  } else {
    MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, mine, sizes[me], MPI_INT, 1, half);
  }

  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 2 : 3, 0, &between);
  MPI_Alltoallv(data, same, places, MPI_INT, got, same, places, MPI_INT, between);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}
