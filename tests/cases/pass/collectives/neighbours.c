// Neighbours exchange what both sides know: in a ring of which two are the same, on a line with
// ends, and in a graph.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm ring, line, graph;
  int rank, data[8] = {0}, got[16] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Cart_create(MPI_COMM_WORLD, 1, (int[1]){2}, (int[1]){1}, 0, &ring);
  MPI_Cart_create(MPI_COMM_WORLD, 1, (int[1]){2}, (int[1]){0}, 0, &line);
  int other = 1 - rank, weight = 1;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &other, &weight, 1, &other, &weight, MPI_INFO_NULL, 0, &graph);
  MPI_Request request;
  MPI_Neighbor_alltoall(data, 2, MPI_INT, got, 2, MPI_INT, ring);
  MPI_Ineighbor_allgather(data, 3, MPI_INT, got, 3, MPI_INT, line, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int counts[1] = {1 + rank}, expected[1] = {1 + other}, places[1] = {0};
  MPI_Neighbor_alltoallv(data, counts, places, MPI_INT, got, expected, places, MPI_INT, graph);
  MPI_Neighbor_allgatherv(data, 1 + rank, MPI_INT, got, expected, places, MPI_INT, graph);
  MPI_Aint at[1] = {0};
  MPI_Datatype types[1] = {rank == 0 ? MPI_INT : MPI_FLOAT}, wanted[1] = {rank == 0 ? MPI_FLOAT : MPI_INT};
  MPI_Neighbor_alltoallw(data, counts, at, types, got, expected, at, wanted, graph);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&line);
  MPI_Comm_free(&graph);
  MPI_Finalize();
  return 0;
}
