// Threads of C++ call collectives one after the other.
#include <mpi.h>
#include <thread>

static int values[4];

static void with_maker() {
  std::thread thread([] {
    MPI_Bcast(values, 1, MPI_INT, 0, MPI_COMM_WORLD);
  });
  thread.join();
  MPI_Barrier(MPI_COMM_WORLD);
}

static void with_another() {
  std::thread one([] {
    MPI_Bcast(values + 1, 1, MPI_INT, 0, MPI_COMM_WORLD);
  });
  one.join();
  std::thread other([] {
    MPI_Bcast(values + 2, 1, MPI_INT, 0, MPI_COMM_WORLD);
  });
  other.join();
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  with_maker();
  with_another();
  MPI_Finalize();
  return 0;
}
