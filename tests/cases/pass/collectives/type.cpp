// Both ranks add integers, under two names of one type.
#include <mpi.h>
#include <vector>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<int> values(8, 1);
  MPI_Datatype type = rank == 0 ? MPI_INT32_T : MPI_INT;
  MPI_Allreduce(MPI_IN_PLACE, values.data(), 8, type, MPI_SUM, MPI_COMM_WORLD);
  if (values[7] != 2) return 1;
  MPI_Finalize();
  return 0;
}
