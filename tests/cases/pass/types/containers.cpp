// C++ memory is passed with the datatype that it is of: containers, smart pointers, `new`, members,
// template functions, structures by datatypes of their size; and as what the standard allows, or
// after a cast.
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
    MPI_Bcast(cells.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(this->cells.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(raw, n, MPI_FLOAT, 0, MPI_COMM_WORLD);
  }
  double *data() { return cells.data(); }
  std::vector<double> cells;

 private:
  float *raw;
};

template <typename T>
void broadcast(std::vector<T> &values, MPI_Datatype type) {
  MPI_Bcast(values.data(), n, type, 0, MPI_COMM_WORLD);
}

static MPI_Datatype positions() {
  int length = 3;
  MPI_Aint at = offsetof(Particle, x);
  MPI_Datatype part = MPI_DOUBLE, old, type;
  MPI_Type_create_struct(1, &length, &at, &part, &old);
  MPI_Type_create_resized(old, 0, sizeof(Particle), &type);
  MPI_Type_free(&old);
  MPI_Type_commit(&type);
  return type;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);

  std::vector<double> doubles(n);
  MPI_Bcast(doubles.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&doubles[0], n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(doubles.data() + 4, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&doubles.front(), n / 2, MPI_C_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD);
  MPI_Bcast(&*doubles.begin(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&doubles.at(2), 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);

  std::vector<int> ints;
  for (int i = 0; i < n; i++) ints.push_back(i);
  MPI_Bcast(ints.data(), n, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(ints.data(), n / 2, MPI_2INT, 0, MPI_COMM_WORLD);

  std::vector<std::size_t> sizes;
  sizes.resize(n);
  MPI_Bcast(sizes.data(), n, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(sizes.data(), n, MPI_UINT64_T, 0, MPI_COMM_WORLD);

  std::vector<std::complex<float>> waves(n);
  MPI_Bcast(waves.data(), n, MPI_C_FLOAT_COMPLEX, 0, MPI_COMM_WORLD);
  MPI_Bcast(waves.data(), 2 * n, MPI_FLOAT, 0, MPI_COMM_WORLD);

  std::unique_ptr<float[]> owned = std::make_unique<float[]>(n);
  MPI_Bcast(owned.get(), n, MPI_FLOAT, 0, MPI_COMM_WORLD);
  MPI_Bcast(&owned[0], n, MPI_FLOAT, 0, MPI_COMM_WORLD);

  auto *fresh = new std::int16_t[64];
  MPI_Bcast(fresh, n, MPI_INT16_T, 0, MPI_COMM_WORLD);
  auto *one = new double(3);
  MPI_Bcast(one, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(static_cast<void *>(one), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);

  Field field(n);
  field.broadcast();
  MPI_Bcast(field.cells.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(field.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  auto &cells = field.cells;
  MPI_Bcast(cells.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);

  std::vector<float> floats(n);
  broadcast(doubles, MPI_DOUBLE);
  broadcast(floats, MPI_FLOAT);

  std::vector<std::vector<double>> rows(3, std::vector<double>(n));
  MPI_Bcast(rows[1].data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);

  MPI_Datatype type = positions();
  std::vector<Particle> particles(n);
  MPI_Bcast(particles.data(), n, type, 0, MPI_COMM_WORLD);
  MPI_Bcast(&particles[0].x, n, type, 0, MPI_COMM_WORLD);
  MPI_Bcast(&particles[2].cell, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(particles[3].x, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  auto *named = new Named[n];
  MPI_Bcast(&named[4], 1, type, 0, MPI_COMM_WORLD);
  MPI_Bcast(&named[1].weight, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);

  // Storage that is used as another type, or for any.
  std::vector<char> text(8 * n);
  MPI_Bcast(text.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  std::vector<std::byte> bytes(8 * n);
  MPI_Bcast(bytes.data(), n, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(reinterpret_cast<long *>(doubles.data()), n, MPI_LONG, 0, MPI_COMM_WORLD);
  auto *whole = reinterpret_cast<std::int64_t *>(doubles.data());
  MPI_Bcast(whole, n, MPI_INT64_T, 0, MPI_COMM_WORLD);
  void *any = doubles.data();
  MPI_Bcast(any, n, MPI_LONG, 0, MPI_COMM_WORLD);
  union Word {
    double real;
    long whole;
  };
  std::vector<Word> words(n);
  MPI_Bcast(words.data(), n, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(words.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  auto shared = std::make_shared<std::vector<int>>(n);
  MPI_Bcast(shared->data(), n, MPI_INT, 0, MPI_COMM_WORLD);

  MPI_Type_free(&type);
  delete[] named;
  delete one;
  delete[] fresh;
  MPI_Finalize();
}
