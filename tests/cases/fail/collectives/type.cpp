// One rank adds floating-point numbers, the other integers.
//# options: --stuck-after 1
#include <mpi.h>
#include <vector>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<int> values(8, 1);
  MPI_Datatype type = rank == 0 ? MPI_FLOAT : MPI_INT;
  MPI_Allreduce(MPI_IN_PLACE, values.data(), 8, type, MPI_SUM, MPI_COMM_WORLD); //~ CS-COL-04 access //~ CS-COL-04 operation //~ CS-ARG-03 operation ranks=0
  MPI_Finalize();
  return 0;
}
