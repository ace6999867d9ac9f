// Iterations, sections and tasks that the program orders: by locks, `ordered`, dependences,
// barriers, a schedule.
//# flags: -fopenmp
//# np: 1
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

enum { N = 24, THREADS = 2, SIZE = 64 };
static const int out[SIZE] = {7};
static int shared[SIZE], parts[THREADS][SIZE], sum;

static int talk(int *memory) {
  int seen = memory[0];
  memory[0] = 1;
  MPI_Sendrecv(out, SIZE, MPI_INT, 0, 0, memory, SIZE, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  return seen == 0 || seen == 7;
}

static void under_a_lock(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel for schedule(dynamic) num_threads(THREADS)
  for (int i = 0; i < N; i++) {
    omp_set_lock(&lock);
    sum += talk(shared);
    omp_unset_lock(&lock);
    usleep(100);
  }
  omp_destroy_lock(&lock);
}

static void critically(void) {
#pragma omp parallel sections num_threads(THREADS)
  {
#pragma omp section
#pragma omp critical
    sum += talk(shared);
#pragma omp section
#pragma omp critical
    sum += talk(shared);
#pragma omp section
#pragma omp critical
    sum += talk(shared);
  }
}

static void in_order(void) {
#pragma omp parallel for ordered schedule(dynamic) num_threads(THREADS)
  for (int i = 0; i < N; i++) {
    usleep(10);
#pragma omp ordered
    sum += talk(shared);
  }
}

static void after_dependences(void) {
#pragma omp parallel num_threads(THREADS)
#pragma omp single
  for (int i = 0; i < N; i++) {
#pragma omp task depend(inout : shared)
    sum += talk(shared);
  }
}

static void by_a_static_schedule(void) {
  int right = 0;
#pragma omp parallel for schedule(static, N / THREADS) num_threads(THREADS) reduction(+ : right)
  for (int i = 0; i < N; i++) right += talk(parts[i / (N / THREADS)]);
  sum += right;
}

static void loop_after_loop(void) {
  int right = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : right)
  for (int turn = 0; turn < 4; turn++) {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < THREADS; i++) right += talk(parts[i]);
  }
  sum += right;
}

static void by_a_team_of_one(void) {
#pragma omp parallel for schedule(dynamic) num_threads(1)
  for (int i = 0; i < N; i++) sum += talk(shared);
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  under_a_lock();
  critically();
  in_order();
  after_dependences();
  by_a_static_schedule();
  loop_after_loop();
  by_a_team_of_one();
  MPI_Finalize();
  return sum == 5 * N + 3 + 4 * THREADS ? 0 : 1;
}
