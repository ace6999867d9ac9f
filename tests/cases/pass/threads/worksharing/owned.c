// Iterations and sections of one thread share what that thread has for itself, in every way to have
// it.
//# flags: -fopenmp
//# np: 1
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 24, THREADS = 2, SIZE = 64 };
static const int out[SIZE] = {7};
static int scratch[THREADS][SIZE], sum, next;
static int *heap;

/* What an earlier piece of the thread's has received, the next one reads and overwrites. */
static int talk(int *memory) {
  int seen = memory[0];
  memory[0] = 1;
  MPI_Sendrecv(out, SIZE, MPI_INT, 0, 0, memory, SIZE, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  usleep(100);
  return seen == 0 || seen == 7;
}

static void add(int right) {
#pragma omp atomic
  sum += right;
}

static void by_number_within(void) {
#pragma omp parallel for schedule(dynamic) num_threads(THREADS)
  for (int i = 0; i < N; i++) add(talk(scratch[omp_get_thread_num()]));
}

static void by_number_before(void) {
#pragma omp parallel num_threads(THREADS)
  {
    int *mine = heap + SIZE * omp_get_thread_num();
#pragma omp for schedule(guided)
    for (int i = 0; i < N; i++) add(talk(mine));
  }
}

static void by_atomic_counter(void) {
  next = 0;
#pragma omp parallel num_threads(THREADS)
  {
    int slot;
#pragma omp atomic capture
    slot = next++;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < N; i++) add(talk(scratch[slot]));
  }
}

static void by_counter_under_a_lock(void) {
  next = 0;
#pragma omp parallel num_threads(THREADS)
  {
    int slot;
#pragma omp critical
    slot = next++;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < N; i++) add(talk(scratch[slot]));
  }
}

static void by_a_static_loop(void) {
#pragma omp parallel num_threads(THREADS)
  {
    int slot = 0;
#pragma omp for schedule(static, 1)
    for (int i = 0; i < THREADS; i++) slot = i;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < N; i++) add(talk(scratch[slot]));
  }
}

static void private_array(void) {
#pragma omp parallel num_threads(THREADS)
  {
    int mine[SIZE] = {0};
#pragma omp for schedule(dynamic)
    for (int i = 0; i < N; i++) add(talk(mine));
#pragma omp sections
    {
#pragma omp section
      add(talk(mine));
#pragma omp section
      add(talk(mine));
#pragma omp section
      add(talk(mine));
    }
  }
}

static void firstprivate_array(void) {
  int mine[SIZE] = {0};
#pragma omp parallel for schedule(dynamic) num_threads(THREADS) firstprivate(mine)
  for (int i = 0; i < N; i++) add(talk(mine));
}

static void allocated_before_the_loop(void) {
#pragma omp parallel num_threads(THREADS)
  {
    int *mine = calloc(SIZE, sizeof *mine);
#pragma omp for schedule(dynamic)
    for (int i = 0; i < N; i++) add(talk(mine));
    free(mine);
  }
}

static void allocated_by_the_first(void) {
  int *mine = NULL;
#pragma omp parallel for schedule(dynamic) num_threads(THREADS) firstprivate(mine)
  for (int i = 0; i < N; i++) {
    if (!mine) mine = calloc(SIZE, sizeof *mine);
    add(talk(mine));
  }
}

static void in_a_nested_region(void) {
#pragma omp parallel for schedule(dynamic) num_threads(THREADS)
  for (int i = 0; i < N; i++) {
    int own[SIZE] = {0}, *mine = own;
#pragma omp parallel num_threads(1)
#pragma omp for schedule(dynamic)
    for (int j = 0; j < 2; j++) add(talk(mine));
  }
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  heap = calloc(THREADS * SIZE, sizeof *heap);
  by_number_within();
  by_number_before();
  by_atomic_counter();
  by_counter_under_a_lock();
  by_a_static_loop();
  private_array();
  firstprivate_array();
  allocated_before_the_loop();
  allocated_by_the_first();
  in_a_nested_region();
  MPI_Finalize();
  free(heap);
  return sum == 10 * N + 3 + N ? 0 : 1;
}
