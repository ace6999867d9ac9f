// std::lock_guard and std::unique_lock hold a lock until the end of their block.
#include <mpi.h>
#include <mutex>

static int value;
static std::mutex mutex;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
    {
      std::lock_guard<std::mutex> guard(mutex);
      value++;
    }
    {
      MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-02 access
    }
    std::unique_lock<std::mutex> lock(mutex);
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
