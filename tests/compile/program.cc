// C++: exceptions through instrumented frames, virtual calls, threads, atomics of the library.
#include <algorithm>
#include <atomic>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  double side;
  explicit Square(double s) : side(s) {}
  double area() const override { return side < 0 ? throw std::domain_error("negative") : side * side; }
};

static std::string describe(const Shape &shape) {
  try {
    return std::to_string(shape.area());
  } catch (const std::exception &e) {
    return e.what();
  }
}

int main() {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i : {3, -1, 2}) shapes.push_back(std::make_unique<Square>(i));
  for (auto &shape : shapes) std::cout << describe(*shape) << "\n";
  std::atomic<long> total{0};
  std::vector<std::future<void>> work;
  for (int t = 0; t < 3; t++)
    work.push_back(std::async(std::launch::async, [&] { for (int i = 0; i < 1000; i++) total += i; }));
  for (auto &w : work) w.get();
  std::map<std::string, std::vector<int>> m;
  m["a"].resize(50);
  std::iota(m["a"].begin(), m["a"].end(), 0);
  std::reverse(m["a"].begin(), m["a"].end());
  std::vector<int> copy(m["a"]);
  std::fill(copy.begin(), copy.begin() + 10, 7);
  std::cout << total << " " << std::accumulate(copy.begin(), copy.end(), 0) << std::endl;
}
