// A thread of C++ calls a collective while its maker, or another such thread, calls one on the same
// communicator.
#include <mpi.h>
#include <thread>

static int values[4];

static void with_maker() {
  std::thread thread([] {
    MPI_Bcast(values, 1, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-THR-04 operation
  });
  MPI_Barrier(MPI_COMM_WORLD); //~ CS-THR-04 access
  thread.join();
}

static void with_another() {
  std::thread one([] {
    MPI_Bcast(values + 1, 1, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-THR-04 operation
  });
  std::thread other([] {
    MPI_Bcast(values + 2, 1, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-THR-04 access
  });
  one.join();
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
