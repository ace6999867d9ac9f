// Temporaries may lie where variables of the same scope will be, or were.
//# np: 2
#include <array>
#include <mpi.h>

template <int N> static std::array<double, N> filled(double value) {
  std::array<double, N> all;
  all.fill(value);
  return all;
}

static void share(double *values, int count) { MPI_Bcast(values, count, MPI_DOUBLE, 0, MPI_COMM_WORLD); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double sum = 0;
  for (int i = 0; i < 2; i++) {
    { auto before = filled<3>(i); share(before.data(), 3); }
    share(filled<20>(i).data(), 20);
    MPI_Bcast(filled<30>(i).data(), 30, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    auto after = filled<4>(i);
    share(after.data(), 4);
    auto last = filled<2>(i);
    share(last.data(), 2);
    sum += after[3] + last[1];
  }
  MPI_Finalize();
  return sum != 2;
}
