/* Four containers of one class, made at one line. */
#include <mpi.h>
#include <vector>
#include <cstdio>

class Grid {
  std::vector<double> u, v, w, p;

public:
  explicit Grid(int n) : u(n), v(n), w(n + 1), p(n) {}
  void exchange(int to, int from) {
    MPI_Sendrecv(u.data(), 100, MPI_DOUBLE, to, 1, v.data(), 100, MPI_DOUBLE, from, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(w.data(), 50, MPI_DOUBLE, to, 2, p.data(), 50, MPI_DOUBLE, from, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Grid grid(1000);
  grid.exchange((rank + 1) % size, (rank + size - 1) % size);
  MPI_Finalize();
}
