// Threads of C++ run functions and members, of which one calls MPI, and its maker does so when it
// is joined.
#include <cstdio>
#include <mpi.h>
#include <thread>

static int values[4];

static void broadcast() {
  MPI_Bcast(values, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void print() { std::puts("working"); }

struct Worker {
  int value = 0;
  void reduce() { MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
  void print() { std::printf("%d\n", value); }
};

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  std::thread one(broadcast), beside(print);
  one.join();
  beside.join();
  Worker worker;
  std::thread other(&Worker::reduce, &worker);
  other.join();
  std::thread last(&Worker::print, &worker);
  last.join();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
