/* Halo exchange: each rank puts its edges into buffers of its neighbours.
 *
 * There are two sets of buffers, used in turn. While a rank unpacks the edges of one step, a faster
 * neighbour may already put those of the next. Compiled with -DONE_SET there is only one. */
#include "halo.h"

#include <stdlib.h>

#ifdef ONE_SET
enum { SETS = 1 };
#else
enum { SETS = 2 };
#endif

/* Lays out the window's memory, and tells the neighbours. */
static void place_buffers(struct exchange *x) {
  MPI_Aint end = 0;
  for (int set = 0; set < 2; set++) {
    for (int side = 0; side < SIDES; side++) {
      x->mine[side][set] = set < SETS ? end : x->mine[side][0];
      if (set < SETS) end += x->length[side];
    }
  }
  for (int side = 0; side < SIDES; side++) {
    MPI_Sendrecv(x->mine[side], 2, MPI_AINT, x->neighbour[side], side, x->theirs[OPPOSITE(side)], 2,
                 MPI_AINT, x->neighbour[OPPOSITE(side)], side, x->comm, MPI_STATUS_IGNORE);
  }
  MPI_Win_allocate(end * (MPI_Aint)sizeof(double), sizeof(double), MPI_INFO_NULL, x->comm,
                   &x->receive, &x->win);
}

static MPI_Group group_of_neighbours(const struct exchange *x) {
  int ranks[SIDES], count = 0;
  MPI_Group all, neighbours;
  for (int side = 0; side < SIDES; side++) {
    if (x->neighbour[side] != MPI_PROC_NULL) ranks[count++] = x->neighbour[side];
  }
  MPI_Comm_group(x->comm, &all);
  MPI_Group_incl(all, count, ranks, &neighbours);
  MPI_Group_free(&all);
  return neighbours;
}

void exchange_create(struct exchange *x, const struct field *f, MPI_Comm cart, enum mode mode) {
  *x = (struct exchange){.comm = cart, .mode = mode};
  MPI_Cart_shift(cart, 0, 1, &x->neighbour[WEST], &x->neighbour[EAST]);
  MPI_Cart_shift(cart, 1, 1, &x->neighbour[SOUTH], &x->neighbour[NORTH]);
  for (int side = 0; side < SIDES; side++) {
    x->length[side] = side == WEST || side == EAST ? f->ny : f->nx;
    x->send[side] = malloc((size_t)x->length[side] * sizeof(double));
    if (!x->send[side]) MPI_Abort(cart, 1);
  }
  place_buffers(x);
  x->neighbours = group_of_neighbours(x);
  if (mode == FENCE) MPI_Win_fence(MPI_MODE_NOPRECEDE, x->win);
  if (mode == PASSIVE) MPI_Win_lock_all(0, x->win);
}

void exchange_free(struct exchange *x) {
  if (x->mode == FENCE) MPI_Win_fence(MPI_MODE_NOSUCCEED, x->win);
  if (x->mode == PASSIVE) MPI_Win_unlock_all(x->win);
  for (int side = 0; side < SIDES; side++) free(x->send[side]);
  MPI_Group_free(&x->neighbours);
  MPI_Win_free(&x->win);
}

/* Tells the neighbours that their halos are there, and waits for their word. */
static void notify(const struct exchange *x) {
  MPI_Request requests[2 * SIDES];
  for (int side = 0; side < SIDES; side++) {
    MPI_Irecv(NULL, 0, MPI_INT, x->neighbour[side], OPPOSITE(side), x->comm, &requests[2 * side]);
    MPI_Isend(NULL, 0, MPI_INT, x->neighbour[side], side, x->comm, &requests[2 * side + 1]);
  }
  MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
}

static void begin(const struct exchange *x) {
  if (x->mode != PSCW) return;
  MPI_Win_post(x->neighbours, 0, x->win);
  MPI_Win_start(x->neighbours, 0, x->win);
}

static void finish(const struct exchange *x) {
  switch (x->mode) {
    case FENCE: MPI_Win_fence(0, x->win); break;
    case PSCW:
      MPI_Win_complete(x->win);
      MPI_Win_wait(x->win);
      break;
    case PASSIVE:
      MPI_Win_flush_all(x->win);
      notify(x);
      MPI_Win_sync(x->win);
      break;
  }
}

void exchange_halo(struct exchange *x, struct field *f) {
  int set = x->step++ % 2;
  begin(x);
  for (int side = 0; side < SIDES; side++) {
    pack(f, side, x->send[side]);
    MPI_Put(x->send[side], x->length[side], MPI_DOUBLE, x->neighbour[side], x->theirs[side][set],
            x->length[side], MPI_DOUBLE, x->win);
  }
  finish(x);
  for (int side = 0; side < SIDES; side++) {
    if (x->neighbour[side] == MPI_PROC_NULL) continue;
    unpack(f, side, &x->receive[x->mine[side][set]]);
  }
}
