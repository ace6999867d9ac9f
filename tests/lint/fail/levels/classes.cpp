// Member functions, templates, and exceptions.
#include <mpi.h>
#include <stdexcept>
#include <vector>

template <typename T> class Grid {
public:
  explicit Grid(int size) : cells(size) {}

  void step() {
#pragma omp parallel
    {
#pragma omp for
      for (int i = 0; i < static_cast<int>(cells.size()); i++) cells[i] += 1;
#pragma omp single
      exchange();
    }
  }

private:
  void exchange() {
    if (cells.empty()) throw std::runtime_error("no cells");
    MPI_Send(cells.data(), 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ CS-THR-01 access
  }

  std::vector<T> cells;
};

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  Grid<double> grid(argc);
  try {
    grid.step();
  } catch (const std::runtime_error &) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
