/* Random messages of two threads; the program writes into each that is long enough, while it is
   being sent. Whether one of the other messages shows that, is chance, too: what a page can show is
   found each time. */
//# hooks: none
//# options: --guards --guard-budget 100
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2, ROUNDS = 60, MOST = 6, SPACE = 1 << 20, PAGE = 4096 };

/* What a thread and its peer of the other rank agree on. */
struct dealer {
  unsigned long state;
  unsigned long order; /* in which messages are completed, each as it likes */
  MPI_Comm comm;
  int rank;
  char *out, *in;
  int wrong;
};

static unsigned next(unsigned long *state, unsigned below) {
  *state = *state * 6364136223846793005ul + 1442695040888963407ul;
  return (unsigned)(*state >> 33) % below;
}

static unsigned draw(struct dealer *of, unsigned below) { return next(&of->state, below); }

static char value(int rank, int round, int at) { return (char)(rank * 7 + round * 13 + at * 31 + at / 257); }

/* As many messages as there is room for, in any order, of any size, some of bytes that others send,
   too, some with gaps, completed in any order. */
static void exchange(struct dealer *of, int round) {
  MPI_Request requests[2 * MOST];
  int starts[MOST], sizes[MOST], count = 1 + (int)draw(of, MOST), space = SPACE / MOST;
  MPI_Datatype gaps[MOST];
  for (int i = 0; i < SPACE; i++) of->out[i] = value(of->rank, round, i);
  memset(of->in, 0, SPACE);
  for (int i = 0; i < count; i++) {
    sizes[i] = 1 + (int)draw(of, draw(of, 3) == 0 ? 64 : (unsigned)space / 2 - 1);
    starts[i] = i * space + 1 + (int)draw(of, (unsigned)space / 2);
    gaps[i] = MPI_DATATYPE_NULL;
    int length = 1 + (int)draw(of, 3 * PAGE);
    if (draw(of, 4) == 0 && sizes[i] > 2 * length) {
      MPI_Type_vector(sizes[i] / (2 * length), length, 2 * length, MPI_CHAR, &gaps[i]);
      MPI_Type_commit(&gaps[i]);
    }
  }
  for (int i = 0; i < count; i++) {
    int plain = gaps[i] == MPI_DATATYPE_NULL;
    MPI_Irecv(of->in + starts[i], plain ? sizes[i] : 1, plain ? MPI_CHAR : gaps[i], 1 - of->rank, i, of->comm,
              &requests[i]);
  }
  for (int i = 0; i < count; i++) {
    int plain = gaps[i] == MPI_DATATYPE_NULL;
    MPI_Isend(of->out + starts[i], plain ? sizes[i] : 1, plain ? MPI_CHAR : gaps[i], 1 - of->rank, i, of->comm, //~ CS-BUF-01 operation
              &requests[MOST + i]);
  }
  /* Bytes between the messages are the program's, and so are those that are only read. */
  of->in[0] = 1;
  for (int i = 0; i < SPACE; i += 512) of->wrong |= of->out[i] != value(of->rank, round, i);
  /* The middle of what is sent holds no other data. */
  for (int i = 0; i < count; i++) {
    int middle = starts[i] + sizes[i] / 2;
    char same = value(of->rank, round, middle);
    if (gaps[i] == MPI_DATATYPE_NULL && sizes[i] > 4 * PAGE) *(volatile char *)&of->out[middle] = same; //~ CS-BUF-01 access count=344
  }
  for (int i = count; i < MOST; i++) requests[i] = MPI_REQUEST_NULL;
  for (int i = MOST + count; i < 2 * MOST; i++) requests[i] = MPI_REQUEST_NULL;
  if (draw(of, 3) == 0) {
    MPI_Waitall(2 * MOST, requests, MPI_STATUSES_IGNORE);
  } else {
    for (int left = 2 * count; left > 0;) {
      int done[2 * MOST], some = 0;
      if (next(&of->order, 2) == 0) {
        some = MPI_Waitany(2 * MOST, requests, &done[0], MPI_STATUS_IGNORE) == MPI_SUCCESS;
      } else {
        MPI_Testsome(2 * MOST, requests, &some, done, MPI_STATUSES_IGNORE);
      }
      for (int k = 0; k < some; k++) {
        int i = done[k];
        if (i >= MOST) continue;
        /* What has arrived is the program's at once. */
        of->wrong |= of->in[starts[i]] != value(1 - of->rank, round, starts[i]);
        if (gaps[i] == MPI_DATATYPE_NULL) {
          for (int at = starts[i]; at < starts[i] + sizes[i]; at++) {
            of->wrong |= of->in[at] != value(1 - of->rank, round, at);
            of->in[at] = 0;
          }
        }
      }
      left -= some;
    }
  }
  for (int i = 0; i < count; i++) {
    if (gaps[i] != MPI_DATATYPE_NULL) MPI_Type_free(&gaps[i]);
  }
}

static void *deals(void *argument) {
  struct dealer *of = argument;
  for (int round = 0; round < ROUNDS; round++) {
    exchange(of, round);
    if (round % 20 == 10) {
      pid_t child = fork();
      if (child == 0) _exit(of->out[PAGE] != value(of->rank, round, PAGE));
      int status;
      of->wrong |= waitpid(child, &status, 0) != child || status != 0;
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  int provided, rank, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_t threads[THREADS];
  struct dealer dealers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    struct dealer dealer = {.state = 41 + (unsigned)i, .order = 7 * (unsigned)i + (unsigned)rank, .rank = rank, .out = malloc(SPACE), .in = malloc(SPACE)};
    dealers[i] = dealer;
    MPI_Comm_dup(MPI_COMM_WORLD, &dealers[i].comm);
    pthread_create(&threads[i], NULL, deals, &dealers[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    MPI_Comm_free(&dealers[i].comm);
    wrong |= dealers[i].wrong;
  }
  MPI_Finalize();
  return wrong;
}
