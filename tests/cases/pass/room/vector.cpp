// A container and an array of a class are used up to their ends.
//# np: 2
#include <array>
#include <mpi.h>
#include <vector>

struct Halo {
  std::array<float, 6> values{};
  void share() {
    MPI_Bcast(values.data(), 6, MPI_FLOAT, 0, MPI_COMM_WORLD);
  }
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  std::vector<double> line(33);
  MPI_Bcast(line.data() + 1, 32, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  Halo halo;
  halo.share();
  MPI_Finalize();
  return halo.values[5] != 0;
}
