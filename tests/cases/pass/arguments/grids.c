// Room for as many dimensions as a grid has, or more, and a graph of which some nodes have no
// edges.
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank, dims[2] = {2, 1}, periods[2] = {0}, coords[3], failed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm grid, graph;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  failed += MPI_Cart_coords(grid, 1, 3, coords) != MPI_SUCCESS;
  int degree = 0;
  failed += MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph) != MPI_SUCCESS;
  MPI_Comm_free(&graph);
  failed += MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph) != MPI_SUCCESS;
  MPI_Comm_free(&graph);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return failed == 0 && coords[0] == 1 ? 0 : 1;
}
