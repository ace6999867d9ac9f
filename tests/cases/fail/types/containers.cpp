// C++ memory is passed with the datatype of something else: of containers, smart pointers, `new`,
// of members and of template functions; structures by datatypes whose extent is not their size.
//# np: 2
//# levels: -O0 -O2
#include <complex>
#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <memory>
#include <vector>

constexpr int n = 12;

struct Particle {
  double x[3];
  long cell;
};

struct Named : Particle {
  float weight;
};

class Field {
 public:
  explicit Field(int size) : cells(size), raw(new float[size]) {}
  ~Field() { delete[] raw; }
  Field(const Field &) = delete;
  void broadcast() {
    MPI_Bcast(cells.data(), n, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
    MPI_Bcast(this->cells.data(), n, MPI_INT64_T, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
    MPI_Bcast(raw, n, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  }
  double *data() { return cells.data(); }
  std::vector<double> cells;

 private:
  float *raw;
};

template <typename T>
void broadcast(std::vector<T> &values, MPI_Datatype type) {
  MPI_Bcast(values.data(), n, type, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
}

static MPI_Datatype positions() {
  int length = 3;
  MPI_Aint at = offsetof(Particle, x);
  MPI_Datatype part = MPI_DOUBLE, type;
  MPI_Type_create_struct(1, &length, &at, &part, &type);
  MPI_Type_commit(&type);
  return type;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);

  std::vector<double> doubles(n);
  MPI_Bcast(doubles.data(), n, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&doubles[0], n, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(doubles.data() + 4, 4, MPI_LONG, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&doubles.front(), n, MPI_LONG, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&*doubles.begin(), n, MPI_LONG, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&doubles.at(2), 4, MPI_LONG, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  std::vector<int> ints;
  for (int i = 0; i < n; i++) ints.push_back(i);
  MPI_Bcast(ints.data(), n, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(ints.data(), n / 2, MPI_INT64_T, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  std::vector<std::size_t> sizes;
  sizes.resize(n);
  MPI_Bcast(sizes.data(), n, MPI_LONG, 0, MPI_COMM_WORLD); //~ CS-ARG-05 operation ranks=0,1
  MPI_Bcast(sizes.data(), n, MPI_UNSIGNED, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  std::vector<std::complex<float>> waves(n);
  MPI_Bcast(waves.data(), n / 2, MPI_C_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(waves.data(), n, MPI_INT64_T, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  std::unique_ptr<float[]> owned = std::make_unique<float[]>(n);
  MPI_Bcast(owned.get(), n, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&owned[0], n, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  auto *fresh = new std::int16_t[64];
  MPI_Bcast(fresh, n, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  auto *one = new double(3);
  MPI_Bcast(one, 1, MPI_LONG, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(static_cast<void *>(one), 1, MPI_LONG, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  Field field(n);
  field.broadcast();
  MPI_Bcast(field.cells.data(), n, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(field.data(), n, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  auto &cells = field.cells;
  MPI_Bcast(cells.data(), n, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  std::vector<float> floats(n);
  broadcast(doubles, MPI_FLOAT);
  broadcast(floats, MPI_INT);

  std::vector<std::vector<double>> rows(3, std::vector<double>(n));
  MPI_Bcast(rows[1].data(), n, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  MPI_Datatype type = positions();
  std::vector<Particle> particles(n);
  MPI_Bcast(particles.data(), n, type, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&particles[0].x, n, type, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&particles[2].cell, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(particles.data(), 4 * n, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  auto *named = new Named[n];
  MPI_Bcast(named, n, type, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(&named[1].weight, 1, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1

  MPI_Type_free(&type);
  delete[] named;
  delete one;
  delete[] fresh;
  MPI_Finalize();
}
