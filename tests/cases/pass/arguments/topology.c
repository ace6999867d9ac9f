// Communicators are asked for the neighbours that they know.
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  int dims[2] = {2, 1}, periods[2] = {0, 0}, coords[2], count, edges, before, after, in[4], out = 1;
  int ends[2] = {1, 2}, others[2] = {1, 0};
  MPI_Init(&argc, &argv);
  MPI_Comm grid, ring, graph, copy;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Graph_create(MPI_COMM_WORLD, 2, ends, others, 0, &ring);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  MPI_Comm_dup(grid, &copy);

  MPI_Cart_coords(grid, 1, 2, coords);
  MPI_Cart_shift(copy, 0, 1, &before, &after);
  MPI_Graphdims_get(ring, &count, &edges);
  MPI_Graph_neighbors_count(ring, 0, &edges);
  MPI_Dist_graph_neighbors_count(graph, &before, &after, &count);
  MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, graph);
  MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, copy);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return coords[0] == 1 && edges == 1 && before == 0 && after == 0 ? 0 : 1;
}
