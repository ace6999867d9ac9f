// Between a put and the write of another thread stands some object of POSIX or of C++.
//# flags: -pthread
#include <atomic>
#include <condition_variable>
#include <future>
#include <mpi.h>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <thread>

static int window[4], out[4] = {7, 7, 7, 7}, rank;
static MPI_Win win;

static void put() {
  MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
  MPI_Win_flush(1 - rank, win);
}

static void put_once() {
  struct Put {
    Put() { put(); }
  };
  static Put made;
}

template <class Ready, class Wait> static void exchange(Ready ready, Wait wait) {
  std::thread other([&] {
    put();
    ready();
  });
  wait();
  for (int &each : out) each++;
  other.join();
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);

  for (int round = 0; round < 3; round++) {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    exchange(
        [&] {
          std::lock_guard<std::mutex> guard(mutex);
          done = true;
          changed.notify_one();
        },
        [&] {
          std::unique_lock<std::mutex> guard(mutex);
          changed.wait(guard, [&] { return done; });
        });

    done = false;
    exchange(
        [&] {
          std::lock_guard<std::mutex> guard(mutex);
          done = true;
        },
        [&] {
          std::unique_lock<std::mutex> guard(mutex);
          while (!done) changed.wait_for(guard, std::chrono::milliseconds(1));
        });

    std::atomic<bool> flag{false};
    exchange([&] { flag.store(true, std::memory_order_release); },
             [&] { while (!flag.load(std::memory_order_acquire)) std::this_thread::yield(); });

    std::atomic<int> count{0};
    exchange([&] { count.fetch_add(1); }, [&] { while (!count.exchange(0)) std::this_thread::yield(); });

    flag = false;
    exchange(
        [&] {
          std::atomic_thread_fence(std::memory_order_release);
          flag.store(true, std::memory_order_relaxed);
        },
        [&] {
          while (!flag.load(std::memory_order_relaxed)) std::this_thread::yield();
          std::atomic_thread_fence(std::memory_order_acquire);
        });

    std::promise<int> promise;
    exchange([&] { promise.set_value(1); }, [&] { promise.get_future().wait(); });

    auto later = std::async(std::launch::async, put);
    later.get();
    out[1]++;

    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    exchange([&] { sem_post(&semaphore); }, [&] { sem_wait(&semaphore); });
    sem_destroy(&semaphore);

    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, 2);
    exchange([&] { pthread_barrier_wait(&barrier); }, [&] { pthread_barrier_wait(&barrier); });
    pthread_barrier_destroy(&barrier);

    std::shared_mutex shared;
    done = false;
    exchange(
        [&] {
          std::unique_lock<std::shared_mutex> guard(shared);
          done = true;
        },
        [&] {
          for (bool seen = false; !seen;) {
            std::shared_lock<std::shared_mutex> guard(shared);
            seen = done;
          }
        });

    std::thread maker(put_once);
    put_once();
    out[2]++;
    maker.join();

    std::once_flag once;
    std::thread other([&] { std::call_once(once, put); });
    std::call_once(once, put);
    out[1]++;
    other.join();
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
