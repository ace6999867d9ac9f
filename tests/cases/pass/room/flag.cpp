// A flag is reduced as a flag.
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
  MPI_Allreduce(&mine, &all, 1, MPI_CXX_BOOL, MPI_LAND, MPI_COMM_WORLD);
  std::printf("%d %d\n", mine, all);
  MPI_Finalize();
}
