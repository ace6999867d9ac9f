/* Threads send and end; the main thread writes to what they sent when it has waited for them, one
 * by a semaphore, as it is detached. */
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static int out[64], in[64];
static sem_t sent;

static void *sends(void *partner) {
  MPI_Request request;
  MPI_Isend(out, 64, MPI_INT, *(int *)partner, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return NULL;
}

static void *sends_and_tells(void *partner) {
  sends(partner);
  sem_post(&sent);
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
  pthread_join(thread, NULL);
  out[5] = in[5] + 1;
  sem_init(&sent, 0, 0);
  pthread_create(&thread, NULL, sends_and_tells, &partner);
  pthread_detach(thread);
  MPI_Recv(in, 64, MPI_INT, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  usleep(50000);
  sem_wait(&sent);
  out[5] = in[5] + 1;
  MPI_Finalize();
  return 0;
}
