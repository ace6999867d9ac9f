// Less room than a grid has dimensions, and a graph with numbers of edges that are negative, or
// nodes that there are not.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank, dims[2] = {2, 1}, periods[2] = {0}, coords[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm grid, graph = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
  MPI_Cart_coords(grid, 0, 1, coords); //~ CS-ARG-01 operation
  int degree = -1, outside = 5;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph); //~ CS-ARG-01 operation
  if (graph != MPI_COMM_NULL) MPI_Comm_free(&graph);
  degree = 0;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &outside, &degree, &rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph); //~ CS-ARG-01 operation
  if (graph != MPI_COMM_NULL) MPI_Comm_free(&graph);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
