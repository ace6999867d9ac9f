// A loop gathers from vectors that are members, through an index: what is being received is left
// for later.
//# np: 2
//# flags: -O2
#include <cstdio>
#include <mpi.h>
#include <vector>

struct Mesh {
  std::vector<double> own, ghost, result;
  std::vector<int> neighbour;
  double &at(int i) {
    const int cells = own.size();
    return i < cells ? own[i] : ghost[i - cells];
  }
};

static __attribute__((noinline)) double smooth(Mesh &mesh, int from, int to) {
  double largest = 0;
  for (int i = from; i < to; i++) {
    const double value = mesh.at(mesh.neighbour[i]);
    if (value > largest) largest = value;
    mesh.result[i] = value / 2;
  }
  return largest;
}

int main(int argc, char **argv) {
  enum { CELLS = 2000, GHOSTS = 50 };
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Mesh *mesh = new Mesh;
  mesh->own.assign(CELLS, rank + 1), mesh->ghost.assign(GHOSTS, 0);
  mesh->result.assign(CELLS, 0), mesh->neighbour.resize(CELLS);
  for (int i = 0; i < CELLS; i++) mesh->neighbour[i] = i + GHOSTS;

  MPI_Request requests[2];
  MPI_Irecv(mesh->ghost.data(), GHOSTS, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(mesh->own.data(), GHOSTS, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  double inside = smooth(*mesh, 0, CELLS - GHOSTS);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  double all = smooth(*mesh, 0, CELLS);

  std::printf("%g %g\n", inside, all);
  delete mesh;
  MPI_Finalize();
  return 0;
}
