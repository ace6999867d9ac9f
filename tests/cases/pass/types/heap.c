// Allocated memory is passed with the datatype that it is of, or as what the standard allows:
// bytes, packed data, members of unions, characters, parts of structures, and storage that is used
// as another type on purpose.
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

union word {
  double real;
  long integer;
};
struct mixed {
  char text[8];
  int index[2];
};
struct grown {
  long size;
  double data[];
};
struct tailed {
  long size;
  double data[1];
};
struct valued {
  double value;
  int index;
};

static double *field;
static struct grid global;

static float *make(int n) { return malloc(n * sizeof(float)); }

static MPI_Datatype resized(MPI_Datatype old) {
  MPI_Datatype type;
  MPI_Type_create_resized(old, 0, sizeof(particle), &type);
  MPI_Type_free(&old);
  MPI_Type_commit(&type);
  return type;
}

static MPI_Datatype positions(int count) {
  MPI_Datatype type;
  MPI_Aint at = 0;
  MPI_Datatype part = MPI_DOUBLE;
  MPI_Type_create_struct(1, &count, &at, &part, &type);
  MPI_Type_commit(&type);
  return type;
}

static void parameter(double *given) {
  MPI_Bcast(given, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  double *doubles = malloc(N * sizeof *doubles);
  MPI_Bcast(doubles, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(doubles, N * 8, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&doubles[2], 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(doubles + 3, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast((void *)doubles, 2, MPI_C_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD);
  parameter(doubles);

  int *ints = (int *)calloc(N, sizeof(int));
  MPI_Bcast(ints, N, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(ints, N / 2, MPI_2INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(ints, N, MPI_INT32_T, 0, MPI_COMM_WORLD);
  MPI_Bcast(ints, N * 4, MPI_CHAR, 0, MPI_COMM_WORLD);

  float *floats = NULL;
  floats = realloc(floats, N * sizeof(float));
  MPI_Bcast(floats, N, MPI_FLOAT, 0, MPI_COMM_WORLD);
  MPI_Bcast(floats, N / 2, MPI_C_FLOAT_COMPLEX, 0, MPI_COMM_WORLD);

  int64_t *wide = aligned_alloc(64, 64 * sizeof(int64_t));
  MPI_Bcast(wide, N, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(wide, N, MPI_AINT, 0, MPI_COMM_WORLD);

  short *narrow = NULL;
  if (posix_memalign((void **)&narrow, 64, N * sizeof(short)) != 0) return 1;
  MPI_Bcast(narrow, N, MPI_SHORT, 0, MPI_COMM_WORLD);

  unsigned *numbers = malloc(N * sizeof(unsigned));
  MPI_Bcast(numbers, N, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  MPI_Bcast(numbers, N, MPI_UINT32_T, 0, MPI_COMM_WORLD);
  MPI_Bcast(ints, N, MPI_INTEGER, 0, MPI_COMM_WORLD);
  MPI_Bcast(wide, N, MPI_INT64_T, 0, MPI_COMM_WORLD);

  float complex *waves = malloc(N * sizeof(float complex));
  MPI_Bcast(waves, N, MPI_C_FLOAT_COMPLEX, 0, MPI_COMM_WORLD);
  double complex *long_waves = malloc(N * sizeof *long_waves);
  MPI_Bcast(long_waves, N, MPI_C_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD);
  MPI_Bcast(long_waves, 2 * N, MPI_DOUBLE, 0, MPI_COMM_WORLD);

  long double *precise = malloc(N * sizeof(long double));
  MPI_Bcast(precise, N, MPI_LONG_DOUBLE, 0, MPI_COMM_WORLD);

  bool *flags = malloc(64 * sizeof(bool));
  MPI_Bcast(flags, N, MPI_C_BOOL, 0, MPI_COMM_WORLD);

  enum color *colors = malloc(N * sizeof(enum color));
  MPI_Bcast(colors, N, MPI_INT, 0, MPI_COMM_WORLD);

  double **rows = malloc(N * sizeof(double *));
  rows[0] = malloc(N * N * sizeof(double));
  for (int i = 1; i < N; i++) rows[i] = rows[0] + i * N;
  MPI_Bcast(rows[0], N * N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&rows[0][N], N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(rows, 0, MPI_DOUBLE, 0, MPI_COMM_WORLD);

  int(*matrix)[4] = malloc(N * sizeof *matrix);
  MPI_Bcast(matrix, N * 4, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(matrix[1], 4, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(&matrix[1][0], 2, MPI_INT, 0, MPI_COMM_WORLD);

  field = malloc(N * sizeof(double));
  MPI_Bcast(field, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);

  struct grid *grid = malloc(sizeof *grid);
  grid->u = malloc(N * sizeof(real));
  grid->node =
      malloc(sizeof(struct node));
  grid->node->values = malloc(N * sizeof(float)); grid->node->index = NULL;
  grid->row = malloc(2 * sizeof(double *));
  grid->row[1] = malloc(N * sizeof(double));
  global.u = malloc(N * sizeof(real));
  MPI_Bcast(grid->u, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(grid->u + N / 2, N / 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(grid->node->values, N, MPI_FLOAT, 0, MPI_COMM_WORLD);
  MPI_Bcast(grid->row[1], N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(global.u, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);

  double *first = malloc(N * sizeof(double)), *second = malloc(N * sizeof(double));
  MPI_Allreduce(first, second, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

  float *made = make(N);
  MPI_Bcast(made, N, MPI_FLOAT, 0, MPI_COMM_WORLD);

  MPI_Datatype type = resized(positions(3)), one = positions(3), pair = positions(2);
  particle *particles = malloc(N * sizeof(particle));
  MPI_Bcast(particles, N, type, 0, MPI_COMM_WORLD);
  MPI_Bcast(&particles[3], 1, one, 0, MPI_COMM_WORLD);
  MPI_Bcast(particles, N * (int)sizeof(particle), MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Bcast(particles[2].x, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&particles[0].x[1], 1, pair, 0, MPI_COMM_WORLD);
  MPI_Bcast(&particles[1].cell, 1, MPI_LONG, 0, MPI_COMM_WORLD);

  // Storage that is used as another type, or for any.
  double *work = malloc(N * sizeof(double));
  int *whole = (int *)work;
  MPI_Bcast(whole, N, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast((int *)work, N, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast((int *)(work + 2), 4, MPI_INT, 0, MPI_COMM_WORLD);
  void *any = malloc(N * sizeof(double));
  MPI_Bcast(any, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  char *text = malloc(N * sizeof(double));
  MPI_Bcast(text, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  unsigned char *bytes = malloc(N * sizeof(double));
  MPI_Bcast(bytes, N, MPI_LONG, 0, MPI_COMM_WORLD);
  union word *words = malloc(N * sizeof *words);
  MPI_Bcast(words, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(words, N, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(&words[1].real, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  struct mixed *mixed = malloc(N * sizeof *mixed);
  MPI_Bcast(mixed->text, 2, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(mixed, 2 * N, MPI_INT, 0, MPI_COMM_WORLD);
  struct valued *best = malloc(N * sizeof *best);
  MPI_Bcast(best, N, MPI_DOUBLE_INT, 0, MPI_COMM_WORLD);
  double *part = (double *)((char *)malloc(N * 8 + 64) + 64);
  MPI_Bcast((char *)part - 64, N, MPI_INT, 0, MPI_COMM_WORLD);
  float *reused = malloc(N * sizeof(float));
  intptr_t hidden = (intptr_t)reused;
  MPI_Bcast((void *)hidden, N, MPI_INT, 0, MPI_COMM_WORLD);
  int position = 0;
  char *packed = malloc(N * sizeof(double));
  MPI_Pack(doubles, N, MPI_DOUBLE, packed, N * 8, &position, MPI_COMM_WORLD);
  MPI_Bcast(packed, position, MPI_PACKED, 0, MPI_COMM_WORLD);
  position = 0;
  MPI_Unpack(packed, N * 8, &position, doubles, N, MPI_DOUBLE, MPI_COMM_WORLD);
  struct grown *grown = malloc(sizeof *grown + N * sizeof(double));
  MPI_Bcast(grown->data, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  size_t room = sizeof(struct tailed) + (N + 1) * sizeof(double);
  struct tailed *tailed = malloc(room);
  MPI_Bcast(tailed->data, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  struct valued *head = malloc(sizeof *head + N * sizeof(double));
  MPI_Bcast(head + 1, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  double *header = malloc(4 + N * sizeof(double));
  MPI_Bcast(header, N, MPI_INT, 0, MPI_COMM_WORLD);

  MPI_Type_free(&type);
  MPI_Type_free(&one);
  MPI_Type_free(&pair);
  MPI_Finalize();
  return 0;
}
