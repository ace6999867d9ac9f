// Threads store into buffers before others send them, and tell them so.
//# flags: -pthread
#include <atomic>
#include <cstring>
#include <mpi.h>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <unistd.h>

static int a[64], b[64], c[64], d[64], in[4][64], copy[64], rank;

static void exchange(int *out, int tag) {
  MPI_Sendrecv(out, 64, MPI_INT, 1 - rank, tag, in[tag], 64, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// What is stored so is seen, but comes after all before.
struct Flag {
  std::atomic<bool> set{false};
  void raise() { set.store(true, std::memory_order_release); }
  void wait() {
    while (!set.load(std::memory_order_acquire)) usleep(10);
  }
};

// Its readers wait for the writer.
struct Shared {
  std::shared_mutex mutex;
  std::atomic<bool> set{false};
  void raise() {
    std::unique_lock guard(mutex);
    set.store(true, std::memory_order_relaxed);
  }
  void wait() {
    for (bool is_set = false; !is_set; usleep(10)) {
      std::shared_lock guard(mutex);
      is_set = set.load(std::memory_order_relaxed);
    }
  }
};

__attribute__((noinline)) static void fill(int *to) {
  for (int i = 0; i < 64; i++) to[i] = rank;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  Flag first, second, third;
  Shared fourth;
  std::thread filler([&] {
    fill(a);
    first.raise();
    third.wait();
    exchange(c, 3);
  });
  first.wait();
  exchange(a, 1);
  c[5] = rank;
  third.raise();
  filler.join();

  std::thread copier([&] {
    memcpy(b, copy, argc > 1 ? 8 : sizeof b);
    second.raise();
  });
  second.wait();
  exchange(b, 2);
  copier.join();

  std::thread reader([&] {
    d[7] = rank;
    fourth.raise();
  });
  fourth.wait();
  exchange(d, 0);
  reader.join();

  int wrong = in[0][7] != 1 - rank;
  MPI_Finalize();
  return wrong;
}
