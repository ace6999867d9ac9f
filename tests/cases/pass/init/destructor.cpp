// MPI is finalized by an object that is destroyed when main has returned.
//# np: 2
#include <mpi.h>

struct Mpi {
  ~Mpi() { MPI_Finalize(); }
};

static Mpi mpi;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}
