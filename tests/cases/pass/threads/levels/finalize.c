// A thread that is not the process's first begins MPI, and ends it.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>

static void *run(void *nothing) {
  int provided;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return nothing;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  pthread_join(thread, NULL);
  return 0;
}
