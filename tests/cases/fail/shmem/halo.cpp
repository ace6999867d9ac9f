// A halo exchange in C++: the next step overwrites borders that a slow neighbour still reads.
//# mpi: openshmem
#include <shmem.h>

#include <numeric>

namespace {

class Field {
public:
  explicit Field(int cells) : cells_(cells), data_(static_cast<double *>(shmem_calloc(cells + 2, sizeof(double)))) {}
  ~Field() { shmem_free(data_); }
  Field(const Field &) = delete;
  Field &operator=(const Field &) = delete;

  void exchange(int left, int right) {
    shmem_double_p(&data_[cells_ + 1], data_[1], left); //~ CS-RMA-03 operation
    shmem_double_p(&data_[0], data_[cells_], right); //~ CS-RMA-03 operation
    shmem_barrier_all();
  }

  double sum() const {
    return std::accumulate(data_, data_ + cells_ + 2, 0.0); //~ CS-RMA-03 access
  }

private:
  int cells_;
  double *data_;
};

} // namespace

int main() {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  int is_wrong = 0;
  {
    Field field(30);
    for (int step = 0; step < 3; step++) {
      field.exchange((me + pes - 1) % pes, (me + 1) % pes);
      is_wrong |= field.sum() != 0;
    }
    shmem_barrier_all();
  }
  shmem_finalize();
  return is_wrong;
}
