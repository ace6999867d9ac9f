// The guard that ends the epoch is destroyed before the vector.
#include <mpi.h>
#include <vector>

class Epoch {
public:
  Epoch(int target, MPI_Win win) : target(target), win(win) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
  }
  ~Epoch() { MPI_Win_unlock(target, win); }
  Epoch(const Epoch &) = delete;

private:
  int target;
  MPI_Win win;
};

__attribute__((noinline)) static void publish(int target, MPI_Win win) {
  std::vector<int> out(100, 7);
  Epoch epoch(target, win);
  MPI_Put(out.data(), 100, MPI_INT, target, 0, 100, MPI_INT, win);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[100];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  publish(1 - rank, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return window[99] == 7 ? 0 : 1;
}
