// A consumer thread reads blocks as soon as their receive is posted.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 3, LENGTH = 20 };

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  const int *block;
  long sum;
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};

static void put(const int *block) {
  pthread_mutex_lock(&queue.lock);
  queue.block = block;
  pthread_cond_signal(&queue.changed);
  while (queue.block != NULL) {
    pthread_cond_wait(&queue.changed, &queue.lock);
  }
  pthread_mutex_unlock(&queue.lock);
}

static void *consume(void *unused) {
  for (int b = 0; b < BLOCKS; b++) {
    pthread_mutex_lock(&queue.lock);
    while (queue.block == NULL) {
      pthread_cond_wait(&queue.changed, &queue.lock);
    }
    for (int i = 0; i < LENGTH; i++) {
      queue.sum += queue.block[i]; //~ CS-BUF-02 access
    }
    queue.block = NULL;
    pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
  }
  return unused;
}

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank, out[LENGTH] = {7}, *in = calloc(LENGTH, sizeof(int));
  pthread_t consumer;
  pthread_create(&consumer, NULL, consume, NULL);
  for (int b = 0; b < BLOCKS; b++) {
    MPI_Request request;
    MPI_Irecv(in, LENGTH, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
    MPI_Send(out, LENGTH, MPI_INT, peer, 0, MPI_COMM_WORLD);
    put(in);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  pthread_join(consumer, NULL);
  free(in);

  printf("%s\n", queue.sum == 21 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
