// A flag of one byte is reduced as an integer of four: what is read of the operand, and what is
// overwritten by the result.
//# np: 2
#include <cstdio>
#include <mpi.h>

static bool all;

static void load(int rank, bool &loaded) { loaded = rank >= 0; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bool mine = false;
  load(rank, mine);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD); //~ CS-BUF-07 operation ranks=0,1 //~ CS-BUF-07 operation ranks=0,1
  std::printf("%d %d\n", mine, all);
  MPI_Finalize();
}
