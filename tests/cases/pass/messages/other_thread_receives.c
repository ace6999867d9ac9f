// Two ranks send each other a message, while another thread of theirs waits for it.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static int rank, in;

static void *receive(void *unused) {
  usleep(100000);
  MPI_Recv(&in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return unused;
}

int main(int argc, char **argv) {
  int provided, out = 7;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE)
    MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_t receiver;
  pthread_create(&receiver, NULL, receive, NULL);
  MPI_Send(&out, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
  pthread_join(receiver, NULL);
  MPI_Finalize();
  return in == 7 ? 0 : 1;
}
