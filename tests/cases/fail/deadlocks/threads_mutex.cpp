// A thread waits for an answer with a mutex locked, which the thread that is to ask the question
// needs.
//# np: 2
//# flags: -pthread
//# options: --stuck-after 1
#include <atomic>
#include <mpi.h>
#include <mutex>
#include <thread>

int main(int argc, char **argv) {
  int provided, rank, value = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::mutex mutex;
  std::atomic<bool> is_locked{false};
  if (rank == 0) {
    std::thread answers([&] {
      int answer;
      std::lock_guard<std::mutex> lock(mutex);
      is_locked = true;
      MPI_Recv(&answer, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait ranks=0,1
    });
    while (!is_locked) {
    }
    {
      std::lock_guard<std::mutex> lock(mutex);
      MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    answers.join();
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
    MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
