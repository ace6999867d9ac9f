// A module in C++ with threads of OpenMP.
#include <memory>
#include <vector>

extern "C" int sum(int n) {
  std::vector<int> numbers(n);
  auto all = std::make_unique<int>(0);
#pragma omp parallel num_threads(3)
  {
#pragma omp for
    for (int i = 0; i < n; i++) {
      numbers[i] = i;
    }
#pragma omp critical
    *all += 1;
  }
  for (int number : numbers) {
    *all += number;
  }
  return *all;
}
