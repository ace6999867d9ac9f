// A container is shorter than what a call uses, and so is an array of a class.
//# np: 2
#include <array>
#include <mpi.h>
#include <vector>

struct Halo {
  std::array<float, 6> values{};
  void share() {
    MPI_Bcast(values.data(), 8, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-BUF-07 operation ranks=0,1
  }
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  std::vector<double> line(33);
  MPI_Bcast(line.data() + 1, 33, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-BUF-07 operation ranks=0,1
  Halo halo;
  halo.share();
  MPI_Finalize();
  return halo.values[5] != 0;
}
