// Variables are used as what they are, or as what may be anything: bytes, characters, members of
// unions.
//# np: 2
#include <complex.h>
#include <mpi.h>
#include <stdint.h>

enum state { READY, DONE };
struct pair {
  double value;
  int index;
};
union word {
  double real;
  long integer;
};
static float weights[6];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double sum = 1;
  int numbers[8] = {0};
  unsigned char bytes[16] = {0};
  int64_t wide[2] = {0};
  enum state state = READY;
  struct pair pair = {0, rank}, best;
  union word word = {.real = 0};
  double complex wave[2] = {0};
  void *pointer = &sum;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(numbers, 8, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(numbers, 32, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Bcast(bytes, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(wide, 2, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(wide, 2, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(weights, 6, MPI_FLOAT, 0, MPI_COMM_WORLD);
  MPI_Bcast(&state, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allreduce(&pair, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  MPI_Bcast(&word, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(wave, 2, MPI_C_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD);
  MPI_Bcast(wave, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&pointer, 1, MPI_AINT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return numbers[7];
}
