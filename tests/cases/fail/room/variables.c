// Variables are shorter than what calls use: of this function, of its caller, of the file, of a
// block.
//# np: 2
#include <mpi.h>

static double table[8];

static void exchange(int *data, int count, int rank) {
  int in[16];
  MPI_Sendrecv(data, count, MPI_INT, 1 - rank, 0, in, 16, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-BUF-07 operation ranks=0,1
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int numbers[10] = {0};
  exchange(numbers + 2, 9, rank);
  MPI_Bcast(table, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-BUF-07 operation ranks=0,1
  {
    static short few[3];
    MPI_Bcast(few, 4, MPI_SHORT, 0, MPI_COMM_WORLD); //~ CS-BUF-07 operation ranks=0,1
  }
  int local = rank, all[4];
  MPI_Gather(&local, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-BUF-07 operation ranks=0,1
  MPI_Finalize();
  return numbers[9];
}
