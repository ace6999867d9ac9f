// Objects of one class, made and read by the same functions: those that depend on the rank are
// asked.
#include <mpi.h>
#include <cstdio>
#include <memory>
#include <vector>

class Field {
  std::vector<double> data_;
  int halo_;

public:
  Field(int n, int halo) : data_(n), halo_(halo) {}
  int halo() const { return halo_; }
  double *data() { return data_.data(); }
};

static std::vector<int> steps(int n, int first) {
  std::vector<int> list(n);
  for (int i = 0; i < n; i++) list[i] = first + i;
  return list;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto mine = std::make_unique<Field>(100 + rank, rank % 2);
  auto all = std::make_unique<Field>(100, 1);
  auto own = steps(10, rank), same = steps(10, 3);
  for (int i = 0; i < mine->halo(); i++) mine->data()[i] = own[i];
  if (mine->halo() == 1)
    MPI_Allreduce(MPI_IN_PLACE, all->data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); //~ CS-COL-01 access possible
  if (own[3] > 5)
    MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-01 access possible
  printf("%g\n", all->data()[0]);
  MPI_Finalize();
}
