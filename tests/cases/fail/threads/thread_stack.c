// A thread ends while the send of its local array is pending; the main thread completes it.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>

static MPI_Request request;
static int rank;

static void *post(void *unused) {
  int out[50];
  for (int i = 0; i < 50; i++) {
    out[i] = i;
  }
  MPI_Isend(out, 50, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-06 operation
  return unused;
} //~ CS-BUF-06 return func=post

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int in[50];
  pthread_t thread;
  pthread_create(&thread, NULL, post, NULL);
  pthread_join(thread, NULL);
  MPI_Recv(in, 50, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
