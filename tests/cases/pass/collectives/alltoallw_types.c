// Ranks pass each other different types, laid out differently on both sides, and nothing to
// themselves.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Datatype pair, same, row;
  MPI_Type_vector(2, 1, 3, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Type_dup(pair, &same);
  MPI_Type_contiguous(2, MPI_INT, &row);
  MPI_Type_commit(&row);
  int data[64] = {0}, got[64] = {0}, counts[3], expected[3], places[3] = {0, 64, 128};
  MPI_Datatype types[3], wanted[3];
  for (int i = 0; i < 3; i++) {
    counts[i] = i == rank ? 0 : 1 + (rank + i) % 2;
    expected[i] = i == rank ? 0 : 2 * (1 + (rank + i) % 2);
    types[i] = i == rank ? MPI_DATATYPE_NULL : (rank + i) % 3 == 0 ? same : row;
    wanted[i] = i == rank ? MPI_DOUBLE : MPI_INT;
  }
  for (int i = 0; i < 3; i++) {
    if (types[i] == MPI_DATATYPE_NULL) types[i] = MPI_CHAR;
  }
  for (int step = 0; step < 3; step++) {
    MPI_Alltoallw(data, counts, places, types, got, expected, places, wanted, MPI_COMM_WORLD);
    MPI_Alltoallv(data, counts, (int[3]){0, 4, 8}, same, got, expected, (int[3]){0, 16, 32}, MPI_INT, MPI_COMM_WORLD);
  }
  MPI_Type_free(&pair);
  MPI_Type_free(&same);
  MPI_Type_free(&row);
  MPI_Finalize();
  return 0;
}
