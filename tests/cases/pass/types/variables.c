// Variables of functions and files are passed with datatypes that describe them, or parts of them,
// or bytes.
//# np: 2
//# levels: -O0 -O2
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { N = 4 };
struct particle {
  double x[3];
  long cell;
};
struct sample {
  int id;
  float value;
};
struct fields {
  unsigned small : 4, large : 20;
  char name[4];
  float value;
};
union word {
  double real;
  long whole;
};
static struct particle fixed[N];
static struct sample samples[N];
static struct fields fields[N];
static union word words[N];
static unsigned counts[N];
static double *rows[N];
static bool flags[64];
static struct {
  int size;
  double matrix[2][N];
} state;

static MPI_Datatype of(MPI_Datatype part, int length, MPI_Aint at, size_t size) {
  MPI_Datatype type, all;
  MPI_Type_create_struct(1, &length, &at, &part, &type);
  MPI_Type_create_resized(type, 0, (MPI_Aint)size, &all);
  MPI_Type_free(&type);
  MPI_Type_commit(&all);
  return all;
}

static void local(MPI_Datatype positions) {
  struct particle near[N] = {0};
  struct sample pair[N] = {0};
  unsigned long sizes[N] = {0};
  MPI_Bcast(near, N, positions, 0, MPI_COMM_WORLD);
  MPI_Bcast(near[1].x, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(near, (int)sizeof near, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Bcast(pair, (int)sizeof pair, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Bcast(&pair[2].value, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);
  MPI_Bcast(sizes, N, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Datatype positions = of(MPI_DOUBLE, 3, 0, sizeof(struct particle));
  MPI_Datatype values = of(MPI_FLOAT, 1, offsetof(struct sample, value), sizeof(struct sample)), column;
  local(positions);
  MPI_Bcast(fixed, N, positions, 0, MPI_COMM_WORLD);
  MPI_Bcast(&fixed[1].cell, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(samples, N, values, 0, MPI_COMM_WORLD);
  MPI_Type_vector(N, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Bcast(samples, 1, column, 0, MPI_COMM_WORLD);
  MPI_Bcast(rows, N, MPI_AINT, 0, MPI_COMM_WORLD);
  MPI_Bcast(flags, 64, MPI_C_BOOL, 0, MPI_COMM_WORLD);
  MPI_Bcast(state.matrix[1], N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(words, N, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(words, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(fields, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(&fields[1].value, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, counts, N, MPI_UNSIGNED, MPI_MAX, MPI_COMM_WORLD);
  MPI_Type_free(&positions);
  MPI_Type_free(&values);
  MPI_Type_free(&column);
  MPI_Finalize();
  return (int)fixed[0].cell + samples[0].id;
}
