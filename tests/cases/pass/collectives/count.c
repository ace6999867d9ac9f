// The root sends what the others expect, in another datatype of the same signature.
//# np: 3
#include <mpi.h>

static double field[64];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 64 && rank == 0; i++) field[i] = i;
  MPI_Datatype half;
  MPI_Type_contiguous(32, MPI_DOUBLE, &half);
  MPI_Type_commit(&half);
  MPI_Bcast(field, rank ? 64 : 2, rank ? MPI_DOUBLE : half, 0, MPI_COMM_WORLD);
  MPI_Type_free(&half);
  for (int i = 0; i < 64; i++)
    if (field[i] != i) return 1;
  MPI_Finalize();
  return 0;
}
