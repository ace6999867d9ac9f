// Locks of POSIX, in functions of the program's own; one way forgets them.
#include <mpi.h>
#include <pthread.h>

static int value;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(void) { pthread_mutex_lock(&lock); }

static void leave(void) { pthread_mutex_unlock(&lock); }

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
    enter();
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    leave();
    if (pthread_mutex_trylock(&lock) == 0) {
      MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
      pthread_mutex_unlock(&lock);
    } else {
      MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-02 access
    }
  }
  MPI_Finalize();
  return 0;
}
