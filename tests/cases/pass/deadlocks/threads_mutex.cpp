// The thread that asks needs a mutex that another one has for long; a third waits for a condition.
//# np: 2
//# flags: -pthread
//# options: --stuck-after 1
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mpi.h>
#include <mutex>
#include <thread>

int main(int argc, char **argv) {
  int provided, rank, value = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::mutex mutex, other;
  std::condition_variable over;
  bool is_over = false;
  std::atomic<bool> is_locked{false};
  if (rank == 0) {
    std::thread works([&] {
      std::lock_guard<std::mutex> lock(mutex);
      is_locked = true;
      std::this_thread::sleep_for(std::chrono::seconds(3));
    });
    std::thread waits([&] {
      std::unique_lock<std::mutex> lock(other);
      over.wait(lock, [&] { return is_over; });
    });
    while (!is_locked) {
    }
    {
      std::lock_guard<std::mutex> lock(mutex);
      MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    {
      std::lock_guard<std::mutex> lock(other);
      is_over = true;
    }
    over.notify_one();
    works.join();
    waits.join();
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
