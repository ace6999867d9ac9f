// One rank prints what all have computed: neither the stream, the text nor the map differs for
// that.
#include <mpi.h>
#include <fstream>
#include <map>
#include <string>
#include <vector>

std::ofstream report;

void print(const char *what, const std::map<int, int> &factors) {
  report << "The " << what << " of the processes:";
  for (const auto &factor : factors) report << " " << factor.first << "^" << factor.second;
  report << std::endl;
}

std::map<int, int> factors_of(int number) {
  std::map<int, int> factors;
  for (int factor = 2; factor <= number; ++factor)
    for (; number % factor == 0; number /= factor) factors[factor]++;
  return factors;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::map<int, int> factors = factors_of(size);
  if (rank == 0) {
    report.open("factors");
    print("factors", factors);
  }
  std::vector<double> sums(2, 1.0);
  double all = 0;
  std::map<int, int> again = factors_of(size);
  if (again.begin() != again.end() && again.begin()->first == 2)
    MPI_Allreduce(&sums[0], &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) report << all << "\n";
  MPI_Finalize();
}
