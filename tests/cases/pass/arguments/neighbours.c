// Ranks without neighbours, which send and receive nothing, from nowhere in memory. MPICH refuses
// that.
//# mpi: openmpi
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  int value = 3, *nothing = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm lonely;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &lonely);
  MPI_Neighbor_allgather(nothing, 1, MPI_INT, nothing, 1, MPI_INT, lonely);
  MPI_Neighbor_alltoall(nothing, 1, MPI_INT, &value, 1, MPI_INT, lonely);
  MPI_Comm_free(&lonely);
  MPI_Finalize();
  return value != 3;
}
