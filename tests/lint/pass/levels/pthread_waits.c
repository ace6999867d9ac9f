// A thread that communicates when it is told to, while the others wait.
#include <mpi.h>
#include <pthread.h>

static int value, told;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void await(int what) {
  pthread_mutex_lock(&lock);
  while (told != what) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

static void tell(int what) {
  pthread_mutex_lock(&lock);
  told = what;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static void *serve(void *unused) {
  for (int i = 0; i < 3; i++) {
    await(1);
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    tell(2);
  }
  return unused;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  pthread_t thread;
  pthread_create(&thread, NULL, serve, NULL);
  for (int i = 0; i < 3; i++) {
    tell(1);
    await(2);
    MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
  }
  pthread_join(thread, NULL);
  MPI_Finalize();
  return 0;
}
