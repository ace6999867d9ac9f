// Allocated memory is passed with the datatype of something else: reals as integers, narrow numbers
// as wide ones, pointers for what they lead to, structures by datatypes that do not fit them, in
// every way that C allocates.
//# np: 2
//# levels: -O0 -O2
#define _GNU_SOURCE
#include <complex.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { N = 12 };
enum color { RED, GREEN };
typedef double real;
typedef struct {
  double x[3];
  long cell;
} particle;
struct node {
  float *values;
  int *index;
};
struct grid {
  int size;
  real *u;
  struct node *node;
  double **row;
};

static double *field;
static struct grid global;

static float *make(int n) { return malloc(n * sizeof(float)); }

static MPI_Datatype positions(int count) {
  MPI_Datatype type;
  MPI_Aint at = 0;
  MPI_Datatype part = MPI_DOUBLE;
  MPI_Type_create_struct(1, &count, &at, &part, &type);
  MPI_Type_commit(&type);
  return type;
}

static void parameter(double *given) {
  MPI_Bcast(given, N, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  double *doubles = malloc(N * sizeof *doubles);
  MPI_Bcast(doubles, N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(doubles, N, MPI_LONG, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&doubles[2], 4, MPI_INT64_T, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(doubles + 3, 4, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast((void *)doubles, 4, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  parameter(doubles);

  int *ints = (int *)calloc(N, sizeof(int));
  MPI_Bcast(ints, N, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(ints, N / 2, MPI_LONG, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(ints, N / 2, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(ints, N, MPI_SHORT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  float *floats = NULL;
  floats = realloc(floats, N * sizeof(float));
  MPI_Bcast(floats, N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(floats, N / 2, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  int64_t *wide = aligned_alloc(64, 64 * sizeof(int64_t));
  MPI_Bcast(wide, N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(wide, N, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  short *narrow = NULL;
  if (posix_memalign((void **)&narrow, 64, N * sizeof(short)) != 0) return 1;
  MPI_Bcast(narrow, N / 2, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  unsigned *numbers = malloc(N * sizeof(unsigned));
  MPI_Bcast(numbers, N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-05 operation ranks=0,1
  MPI_Bcast(numbers, N, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(ints, N, MPI_UNSIGNED, 0, MPI_COMM_WORLD); //~ CS-ARG-05 operation ranks=0,1
  MPI_Bcast(wide, N, MPI_UINT64_T, 0, MPI_COMM_WORLD); //~ CS-ARG-05 operation ranks=0,1

  float complex *waves = malloc(N * sizeof(float complex));
  MPI_Bcast(waves, N / 2, MPI_C_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  double complex *long_waves = malloc(N * sizeof *long_waves);
  MPI_Bcast(long_waves, N, MPI_C_FLOAT_COMPLEX, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(long_waves, N, MPI_INT64_T, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  long double *precise = malloc(N * sizeof(long double));
  MPI_Bcast(precise, N, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  bool *flags = malloc(64 * sizeof(bool));
  MPI_Bcast(flags, N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  enum color *colors = malloc(N * sizeof(enum color));
  MPI_Bcast(colors, N, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  double **rows = malloc(N * sizeof(double *));
  rows[0] = malloc(N * N * sizeof(double));
  for (int i = 1; i < N; i++) rows[i] = rows[0] + i * N;
  MPI_Bcast(rows[0], N * N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&rows[0][N], N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(rows, N, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  int(*matrix)[4] = malloc(N * sizeof *matrix);
  MPI_Bcast(matrix, N * 4, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(matrix[1], 4, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&matrix[1][0], 2, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  field = malloc(N * sizeof(double));
  MPI_Bcast(field, N, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  struct grid *grid = malloc(sizeof *grid);
  grid->u = malloc(N * sizeof(real));
  grid->node =
      malloc(sizeof(struct node));
  grid->node->values = malloc(N * sizeof(float)); grid->node->index = NULL;
  grid->row = malloc(2 * sizeof(double *));
  grid->row[1] = malloc(N * sizeof(double));
  global.u = malloc(N * sizeof(real));
  MPI_Bcast(grid->u, N, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(grid->u + N / 2, N / 2, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(grid->node->values, N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(grid->row[1], N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(global.u, N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  double *first = malloc(N * sizeof(double)), *second = malloc(N * sizeof(double));
  MPI_Allreduce(first, second, N, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1 //~ CS-ARG-03 operation ranks=0,1

  float *made = make(N);
  MPI_Bcast(made, N, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  MPI_Datatype type = positions(3), too_many = positions(4);
  particle *particles = malloc(N * sizeof(particle));
  MPI_Bcast(particles, N, type, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&particles[3], 2, type, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(particles, N, too_many, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(particles, 4 * N, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&particles[0].x[0], 4 * N, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&particles[1].cell, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  MPI_Type_free(&type);
  MPI_Type_free(&too_many);
  MPI_Finalize();
  return 0;
}
