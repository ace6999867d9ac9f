// The functions that a pure virtual one stands for are known, so that what they are given stays
// known, too.
#include <mpi.h>

struct Ranks {
  MPI_Comm comm;
  int rank;
};

struct Operator {
  virtual void apply(Ranks *ranks) const = 0;
};

struct Diagonal : Operator {
  void apply(Ranks *) const override {}
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  Ranks ranks;
  ranks.comm = MPI_COMM_WORLD;
  MPI_Comm_rank(ranks.comm, &ranks.rank);
  Operator *diagonal = new Diagonal;
  diagonal->apply(&ranks);
  MPI_Barrier(ranks.comm);
  MPI_Finalize();
  return 0;
}
