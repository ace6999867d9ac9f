/* What the program does with signals, threads and processes while pages of its buffers are closed:
   all of it works as without. It reads what is being sent, in a signal handler, in a thread that
   blocks all signals and in system calls; it handles its own faults; a child reads everything. */
//# hooks: none
//# options: --guards
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1 << 20, PAGE = 4096 };

static char *out, *in, *own;
static volatile sig_atomic_t faults, alarms, traps;
static volatile int wrong;
static sigjmp_buf back;

static long sum(const char *data) {
  long total = 0;
  for (int i = 0; i < SIZE; i += 64) total += data[i];
  return total;
}

static void mend(int signal, siginfo_t *info, void *context) {
  if ((char *)info->si_addr < own || (char *)info->si_addr >= own + PAGE) _exit(3);
  mprotect(own, PAGE, PROT_READ | PROT_WRITE);
  faults++;
}

static void leave(int signal) {
  faults++;
  siglongjmp(back, 1);
}

static void on_trap(int signal) { traps++; }

static int null;

static void on_alarm(int signal) {
  alarms++;
  if (sum(out) != SIZE / 64) wrong = 1;
  if (write(null, out, SIZE) != SIZE) wrong = 2;
}

static void *reads(void *unused) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  if (sum(out) != SIZE / 64) wrong = 3;
  return NULL;
}

static void use(void) {
  /* Faults of its own. */
  mprotect(own, PAGE, PROT_NONE);
  own[7] = 1;
  struct sigaction action = {.sa_handler = leave}, before;
  sigaction(SIGSEGV, &action, &before);
  if (before.sa_sigaction != mend || !(before.sa_flags & SA_ONSTACK)) wrong = 4;
  mprotect(own, PAGE, PROT_NONE);
  if (sigsetjmp(back, 1) == 0) own[7] = 1;
  sigaction(SIGSEGV, &before, NULL);
  raise(SIGTRAP);

  /* Handlers and threads that read. */
  struct itimerval soon = {.it_value = {.tv_usec = 1000}};
  int seen = alarms;
  setitimer(ITIMER_REAL, &soon, NULL);
  while (alarms == seen) {
    if (sum(out) != SIZE / 64) wrong = 5;
  }
  pthread_t thread;
  pthread_create(&thread, NULL, reads, NULL);
  pthread_join(thread, NULL);

  /* A child has everything, and shows it. */
  int ends[2];
  if (pipe(ends) != 0) abort();
  pid_t child = fork();
  if (child == 0) {
    in[SIZE / 2] = 5;
    out[SIZE / 2] = 6;
    int written = write(ends[1], &in[SIZE / 2], PAGE) == PAGE && write(ends[1], &out[SIZE / 2], 1) == 1;
    _exit(written ? 0 : 1);
  }
  int status;
  char data[PAGE + 1];
  if (read(ends[0], data, PAGE) != PAGE || read(ends[0], data + PAGE, 1) != 1) wrong = 6;
  if (data[0] != 5 || data[PAGE] != 6) wrong = 7;
  if (waitpid(child, &status, 0) != child || status != 0) wrong = 8;
  close(ends[0]);
  close(ends[1]);
}

int main(int argc, char **argv) {
  stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_sigaction = mend, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGSEGV, &action, NULL);
  MPI_Init(&argc, &argv);
  sigaction(SIGSEGV, &action, NULL);
  struct sigaction alarm = {.sa_handler = on_alarm};
  sigfillset(&alarm.sa_mask);
  sigaction(SIGALRM, &alarm, NULL);
  signal(SIGTRAP, on_trap);

  int rank, steps = 10;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FILE *file = fopen("/dev/null", "w");
  null = fileno(file);
  out = malloc(SIZE);
  in = malloc(SIZE);
  own = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(out, 1, SIZE);
  for (int step = 0; step < steps; step++) {
    MPI_Request requests[2];
    memset(in, 0, SIZE);
    MPI_Irecv(in, SIZE, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, SIZE, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    use();
    fwrite(out, 1, SIZE, file);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (memcmp(in, out, SIZE) != 0) wrong = 9;
  }
  if (faults != 2 * steps || alarms != steps || traps != steps) wrong = 10;
  MPI_Finalize();
  return wrong;
}
