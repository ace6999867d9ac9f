// Between a put and the write of another thread stands some object of C11.
//# flags: -pthread
#include <mpi.h>
#include <stdbool.h>
#include <threads.h>
#include <time.h>

static int window[4], out[4] = {7, 7, 7, 7}, rank;
static MPI_Win win;
static mtx_t mutex;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static bool done;

static void put(void) {
  MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
  MPI_Win_flush(1 - rank, win);
}

static int put_and_end(void *unused) {
  put();
  return 3;
}

static int put_and_tell(void *unused) {
  put();
  mtx_lock(&mutex);
  done = true;
  cnd_signal(&changed);
  mtx_unlock(&mutex);
  return 0;
}

static int put_once(void *unused) {
  call_once(&once, put);
  return 0;
}

static void await(bool polls) {
  struct timespec now;
  if (polls) {
    for (bool seen = false; !seen; thrd_yield()) {
      while (mtx_trylock(&mutex) != thrd_success) thrd_yield();
      seen = done;
      mtx_unlock(&mutex);
    }
  } else {
    timespec_get(&now, TIME_UTC);
    now.tv_sec += 5;
    mtx_timedlock(&mutex, &now);
    while (!done) cnd_timedwait(&changed, &mutex, &now);
    while (!done) cnd_wait(&changed, &mutex);
    mtx_unlock(&mutex);
  }
}

int main(int argc, char **argv) {
  int provided, code = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  mtx_init(&mutex, mtx_timed);
  cnd_init(&changed);

  thrd_t other;
  for (int round = 0; round < 4; round++) {
    done = false;
    thrd_create(&other, put_and_tell, NULL);
    await(round % 2);
    out[1]++;
    thrd_join(other, NULL);
  }
  thrd_create(&other, put_and_end, NULL);
  thrd_join(other, &code);
  out[1]++;
  thrd_create(&other, put_once, NULL);
  call_once(&once, put);
  out[1]++;
  thrd_join(other, NULL);
  MPI_Win_unlock_all(win);

  cnd_destroy(&changed);
  mtx_destroy(&mutex);
  MPI_Win_free(&win);
  MPI_Finalize();
  return code != 3;
}
