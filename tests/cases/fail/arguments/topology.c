// Neighbours are asked for of communicators that know none, or other ones.
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  int dims[2] = {2, 1}, periods[2] = {0, 0}, coords[2], count, edges, before, after, in[4], out = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm grid, graph;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);

  MPI_Cart_coords(grid, 2, 2, coords); //~ CS-ARG-01 operation
  MPI_Cart_shift(graph, 0, 1, &before, &after); //~ CS-ARG-01 operation
  MPI_Graphdims_get(graph, &count, &edges); //~ CS-ARG-01 operation
  MPI_Dist_graph_neighbors_count(grid, &before, &after, &count); //~ CS-ARG-01 operation
  MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD); //~ CS-ARG-01 operation
  MPI_Comm_free(&graph);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
