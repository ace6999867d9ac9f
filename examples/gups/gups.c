/* Giga-updates per second: a table is spread over all ranks, and each rank xors random numbers into
 * random words of it, wherever they are.
 *
 *   gups accumulate|getput [words per rank] [updates per rank]
 *
 * Compiled with -DMISSING_FLUSH, one path of `getput` lacks its flush. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 16, CHUNK = 1024 };

struct table {
  int rank, ranks;
  uint64_t words; /* of each rank */
  uint64_t *mine;
  MPI_Win win;
};

/* One number of a rank's stream: what is xored, and where. */
struct update {
  uint64_t value;
  int owner;
  MPI_Aint word;
};

static void *allocate(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

/* xorshift64 */
static struct update draw(const struct table *t, uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  uint64_t place = *state >> 20;
  return (struct update){*state, (int)(place % (uint64_t)t->ranks),
                         (MPI_Aint)(place / (uint64_t)t->ranks % t->words)};
}

static uint64_t seed_of(int rank) { return 0x9e3779b97f4a7c15u * (uint64_t)(rank + 1); }

/* Updates of all ranks at once: MPI_Accumulate is atomic for each word. */
static void accumulate(struct table *t, long updates) {
  static uint64_t values[BATCH];
  uint64_t state = seed_of(t->rank);
  for (long n = 0; n < updates; n++) {
    if (n % BATCH == 0) MPI_Win_flush_local_all(t->win);
    struct update u = draw(t, &state);
    values[n % BATCH] = u.value;
    MPI_Accumulate(&values[n % BATCH], 1, MPI_UINT64_T, u.owner, u.word, 1, MPI_UINT64_T, MPI_BXOR,
                   t->win);
  }
  MPI_Win_flush_all(t->win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(t->win);
}

static int among(const struct update *u, int count, MPI_Aint word) {
  for (int i = 0; i < count; i++) {
    if (u[i].word == word) return 1;
  }
  return 0;
}

/* Gets, changes and puts back some words of one rank, no word twice. The puts are not complete. */
static void update_batch(struct table *t, const struct update *u, int count) {
  static uint64_t words[BATCH];
  for (int i = 0; i < count; i++) {
    MPI_Get(&words[i], 1, MPI_UINT64_T, u[i].owner, u[i].word, 1, MPI_UINT64_T, t->win);
  }
  MPI_Win_flush_local(u->owner, t->win);
  for (int i = 0; i < count; i++) words[i] ^= u[i].value;
  for (int i = 0; i < count; i++) {
    MPI_Put(&words[i], 1, MPI_UINT64_T, u[i].owner, u[i].word, 1, MPI_UINT64_T, t->win);
  }
}

/* All updates of a chunk for one other rank, in batches as long as no word comes twice. */
static void update_remote(struct table *t, const struct update *u, int count) {
  int begin = 0;
  for (int end = 0; end < count; end++) {
    if (end - begin < BATCH && !among(u + begin, end - begin, u[end].word)) continue;
    update_batch(t, u + begin, end - begin);
    MPI_Win_flush(u->owner, t->win);
    begin = end;
  }
  if (begin < count) {
    update_batch(t, u + begin, count - begin);
#ifndef MISSING_FLUSH
    MPI_Win_flush(u->owner, t->win);
#endif
  }
}

static void update_own(struct table *t, const struct update *u, int count) {
  for (int i = 0; i < count; i++) t->mine[u[i].word] ^= u[i].value;
}

/* The updates of a chunk go to one rank after the other. In each round every rank visits another
 * one, so that nobody else touches what it gets and puts; the first round is for itself. */
static void update_chunk(struct table *t, const struct update *chunk, int count) {
  struct update *here = allocate(CHUNK * sizeof *here);
  for (int round = 0; round < t->ranks; round++) {
    int target = (t->rank + round) % t->ranks, found = 0;
    for (int i = 0; i < count; i++) {
      if (chunk[i].owner == target) here[found++] = chunk[i];
    }
    (round == 0 ? update_own : update_remote)(t, here, found);
    MPI_Win_sync(t->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(t->win);
  }
  free(here);
}

static void get_and_put(struct table *t, long updates) {
  struct update *chunk = allocate(CHUNK * sizeof *chunk);
  uint64_t state = seed_of(t->rank);
  for (long done = 0; done < updates; done += CHUNK) {
    int count = updates - done < CHUNK ? (int)(updates - done) : CHUNK;
    for (int i = 0; i < count; i++) chunk[i] = draw(t, &state);
    update_chunk(t, chunk, count);
  }
  free(chunk);
}

/* Words that differ from what the streams of all ranks make of them. */
static long wrong_words(const struct table *t, long updates) {
  uint64_t *expected = allocate(t->words * sizeof *expected);
  long wrong = 0, total;
  for (uint64_t i = 0; i < t->words; i++) expected[i] = i;
  for (int rank = 0; rank < t->ranks; rank++) {
    uint64_t state = seed_of(rank);
    for (long n = 0; n < updates; n++) {
      struct update u = draw(t, &state);
      if (u.owner == t->rank) expected[u.word] ^= u.value;
    }
  }
  for (uint64_t i = 0; i < t->words; i++) wrong += expected[i] != t->mine[i];
  MPI_Allreduce(&wrong, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  free(expected);
  return total;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int atomically = argc > 1 && strcmp(argv[1], "accumulate") == 0;
  long updates = argc > 3 ? atol(argv[3]) : 5000;
  struct table t = {.words = argc > 2 ? strtoull(argv[2], NULL, 10) : 256};
  MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &t.ranks);
  MPI_Win_allocate((MPI_Aint)(t.words * sizeof *t.mine), sizeof *t.mine, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &t.mine, &t.win);

  MPI_Win_lock_all(0, t.win);
  for (uint64_t i = 0; i < t.words; i++) t.mine[i] = i;
  MPI_Win_sync(t.win);
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime();
  (atomically ? accumulate : get_and_put)(&t, updates);
  double seconds = MPI_Wtime() - begin;
  MPI_Win_unlock_all(t.win);

  long wrong = wrong_words(&t, updates);
  if (t.rank == 0) {
    printf("time loop %.6f s: %.6f giga-updates per second, %ld words wrong\n", seconds,
           (double)updates * t.ranks / seconds / 1e9, wrong);
  }
  MPI_Win_free(&t.win);
  MPI_Finalize();
  return wrong ? 1 : 0;
}
