// A thread of its own tests the requests; the main thread computes until it is told.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  MPI_Request request;
  int posted, arrived;
} work = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *progress(void *unused) {
  pthread_mutex_lock(&work.lock);
  while (!work.posted) {
    pthread_cond_wait(&work.changed, &work.lock);
  }
  pthread_mutex_unlock(&work.lock);
  int done = 0;
  while (!done) {
    MPI_Test(&work.request, &done, MPI_STATUS_IGNORE);
  }
  pthread_mutex_lock(&work.lock);
  work.arrived = 1;
  pthread_cond_signal(&work.changed);
  pthread_mutex_unlock(&work.lock);
  return unused;
}

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int in[10], out[10] = {7}, other[10];
  pthread_t thread;
  pthread_create(&thread, NULL, progress, NULL);

  pthread_mutex_lock(&work.lock);
  MPI_Irecv(in, 10, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &work.request);
  work.posted = 1;
  pthread_cond_signal(&work.changed);
  pthread_mutex_unlock(&work.lock);
  MPI_Send(out, 10, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 10; i++) {
    other[i] = i;
  }
  pthread_mutex_lock(&work.lock);
  while (!work.arrived) {
    pthread_cond_wait(&work.changed, &work.lock);
  }
  pthread_mutex_unlock(&work.lock);
  in[1] = in[0] + other[1];
  pthread_join(thread, NULL);

  MPI_Finalize();
  return in[1] == 8 ? 0 : 1;
}
