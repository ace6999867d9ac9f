// Variables of functions and files are passed with datatypes that do not describe them: members of
// structures, elements whose extent is not the structure's size, pointers for what they lead to,
// and signs.
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
static struct particle fixed[N];
static struct sample samples[N];
static unsigned counts[N];
static double *rows[N];
static bool flags[64];
static struct {
  int size;
  double matrix[2][N];
} state;

static MPI_Datatype of(MPI_Datatype part, int length, MPI_Aint at) {
  MPI_Datatype type;
  MPI_Type_create_struct(1, &length, &at, &part, &type);
  MPI_Type_commit(&type);
  return type;
}

static void local(MPI_Datatype positions) {
  struct particle near[N] = {0};
  struct sample pair[N] = {0};
  unsigned long sizes[N] = {0};
  MPI_Bcast(near, N, positions, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(near, 4 * N, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(pair, 2 * N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(pair, N, MPI_FLOAT_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(sizes, N, MPI_LONG, 0, MPI_COMM_WORLD); //~ CS-ARG-05 operation ranks=0,1
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Datatype positions = of(MPI_DOUBLE, 3, 0), values = of(MPI_INT, 1, offsetof(struct sample, value));
  local(positions);
  MPI_Bcast(fixed, N, positions, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&fixed[1].cell, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(samples, 1, values, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(samples, 2, MPI_2INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(rows, N, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(flags, N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(state.matrix[1], N, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Allreduce(MPI_IN_PLACE, counts, N, MPI_INT, MPI_MAX, MPI_COMM_WORLD); //~ CS-ARG-05 operation ranks=0,1
  MPI_Type_free(&positions);
  MPI_Type_free(&values);
  MPI_Finalize();
  return (int)fixed[0].cell + samples[0].id;
}
