// Calls use variables up to their ends: scalars, rows of a matrix, members of a structure, arrays
// of a length that is known at run time only, literals.
//# np: 2
#include <mpi.h>
#include <stdalign.h>
#include <string.h>

static double table[8];
static struct {
  int count;
  double values[4];
} shared;

static void exchange(int *data, int count, int rank) {
  int in[16];
  MPI_Sendrecv(data, count, MPI_INT, 1 - rank, 0, in, 16, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void variable(int length) {
  double line[length];
  memset(line, 0, sizeof line);
  MPI_Bcast(line, length, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int numbers[10] = {0};
  exchange(numbers + 2, 8, rank);
  MPI_Bcast(table, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(shared.values, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  // All members, as bytes.
  MPI_Bcast(&shared, sizeof shared, MPI_BYTE, 0, MPI_COMM_WORLD);
  variable(rank * 0 + 100);
  alignas(64) float matrix[4][8];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 8; j++) matrix[i][j] = 0;
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 8, MPI_FLOAT, &column);
  MPI_Type_commit(&column);
  MPI_Bcast(&matrix[0][7], 1, column, 0, MPI_COMM_WORLD);
  MPI_Bcast(matrix[2], 16, MPI_FLOAT, 0, MPI_COMM_WORLD);
  MPI_Type_free(&column);
  int local = rank, all[2];
  MPI_Allgather(&local, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Reduce(&(int){3}, &local, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return numbers[9];
}
