// Threads that take turns in calling MPI: by a mutex, by waiting for each other, by a condition.
//# flags: -pthread
#include <condition_variable>
#include <mpi.h>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::condition_variable changed;
static int turn;

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int in[4], out[4];
  static MPI_Request requests[8];
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([=] {
      out[t] = t;
      std::lock_guard<std::mutex> guard(mutex);
      MPI_Irecv(&in[t], 1, MPI_INT, !rank, t, MPI_COMM_WORLD, &requests[2 * t]);
      MPI_Isend(&out[t], 1, MPI_INT, !rank, t, MPI_COMM_WORLD, &requests[2 * t + 1]);
    });
  for (auto &thread : threads) thread.join();
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  threads.clear();
  for (int t = 0; t < 4; t++)
    threads.emplace_back([=] {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [=] { return turn == t; });
      MPI_Barrier(MPI_COMM_WORLD);
      turn = t + 1;
      changed.notify_all();
    });
  for (auto &thread : threads) thread.join();
  MPI_Finalize();
  return in[3] == 3 ? 0 : 1;
}
