// Threads of C++ run functions and members, given by their addresses.
#include <mpi.h>
#include <thread>

static int values[4];

static void broadcast() {
  MPI_Bcast(values, 1, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-THR-04 operation
}

struct Worker {
  int value = 0;
  void reduce() {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); //~ CS-THR-04 operation
  }
};

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  std::thread one(broadcast);
  MPI_Barrier(MPI_COMM_WORLD); //~ CS-THR-04 access
  one.join();
  Worker worker;
  std::thread other(&Worker::reduce, &worker);
  MPI_Barrier(MPI_COMM_WORLD); //~ CS-THR-04 access
  other.join();
  MPI_Finalize();
  return 0;
}
