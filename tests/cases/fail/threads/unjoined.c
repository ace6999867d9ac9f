/* A thread sends and ends; nobody has waited for it when the main thread writes to what it sent,
 * however late. */
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static int out[64], in[64];

static void *sends(void *partner) {
  MPI_Request request;
  MPI_Isend(out, 64, MPI_INT, *(int *)partner, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return NULL;
}

int main(int argc, char **argv) {
  int provided, rank, partner;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  partner = 1 - rank;
  pthread_create(&thread, NULL, sends, &partner);
  MPI_Recv(in, 64, MPI_INT, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  usleep(50000);
  out[5] = in[5] + 1; //~ CS-BUF-01 access
  pthread_join(thread, NULL);
  MPI_Finalize();
  return 0;
}
