// Threads that each exchange messages with the other rank in buffers of their own, and compute
// beside them, as fast as they can. Nothing here is wrong.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, PENDING = 8, LENGTH = 32, HALF = PENDING / 2 };

static int rank, size, rounds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long wrong;

struct shared {
  int data[THREADS][PENDING][LENGTH]; // neighbours share cache lines and pages
  int beside[THREADS][LENGTH];
} shared;

static int value(int from, int thread, int round, int k, int i) {
  return ((from * THREADS + thread) * 1000 + round) * PENDING + k + i;
}

static void *work(void *number) {
  int me = (int)(long)number, peer = (rank + 1) % size, from = (rank + size - 1) % size;
  long bad = 0;
  for (int round = 0; round < rounds; round++) {
    MPI_Request requests[PENDING], moved[PENDING];
    for (int k = 0; k < HALF; k++)
      MPI_Irecv(shared.data[me][k], LENGTH, MPI_INT, from, me * PENDING + k, MPI_COMM_WORLD,
                &requests[k]);
    for (int k = 0; k < HALF; k++) {
      for (int i = 0; i < LENGTH; i++)
        shared.data[me][HALF + k][i] = value(rank, me, round, k, i);
      MPI_Isend(shared.data[me][HALF + k], LENGTH, MPI_INT, peer, me * PENDING + k,
                MPI_COMM_WORLD, &requests[HALF + k]);
    }
    for (int k = 0; k < PENDING; k++) moved[k] = requests[k];
    for (int n = 0; n < PENDING; n++) {
      for (int i = 0; i < LENGTH; i++) shared.beside[me][i] += i;
      int index;
      MPI_Waitany(PENDING, moved, &index, MPI_STATUS_IGNORE);
      if (index >= HALF) {
        shared.data[me][index][0] = -1;
        continue;
      }
      for (int i = 0; i < LENGTH; i++)
        bad += shared.data[me][index][i] != value(from, me, round, index, i);
    }
  }
  for (int i = 0; i < LENGTH; i++) bad += shared.beside[me][i] != i * PENDING * rounds;
  pthread_mutex_lock(&lock);
  wrong += bad;
  pthread_mutex_unlock(&lock);
  return NULL;
}

// Requests made by one thread, completed by another, which gets copies of them.
static MPI_Request handed[PENDING];

static void *complete(void *unused) {
  (void)unused;
  MPI_Request copies[PENDING];
  for (int k = 0; k < PENDING; k++) copies[k] = handed[k];
  MPI_Waitall(PENDING, copies, MPI_STATUSES_IGNORE);
  return NULL;
}

static void hand_over(void) {
  static int data[PENDING][LENGTH];
  for (int round = 0; round < 50; round++) {
    for (int k = 0; k < HALF; k++)
      MPI_Irecv(data[k], LENGTH, MPI_INT, rank, 1000 + k, MPI_COMM_WORLD, &handed[k]);
    for (int k = 0; k < HALF; k++)
      MPI_Isend(data[HALF + k], LENGTH, MPI_INT, rank, 1000 + k, MPI_COMM_WORLD,
                &handed[HALF + k]);
    pthread_t thread;
    pthread_create(&thread, NULL, complete, NULL);
    pthread_join(thread, NULL);
    for (int k = 0; k < HALF; k++) wrong += data[k][5] != round;
    for (int k = HALF; k < PENDING; k++)
      for (int i = 0; i < LENGTH; i++) data[k][i] = round + 1;
  }
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 77);
  rounds = argc > 1 ? atoi(argv[1]) : 300;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  hand_over();
  printf("rank %d: %ld wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
