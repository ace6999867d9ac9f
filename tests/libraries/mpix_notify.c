/* Intel MPI's notified one-sided operations for other MPI libraries: a second window has the
   counters. Not for MPICH 4.0, with which a counter may be seen before the data. */
#include "mpix_notify.h"
#include <stddef.h>

static MPI_Win counters = MPI_WIN_NULL;
static long long *counter;
static int own_rank;

int PMPIX_Win_create_notify(MPI_Win win, int notification_num) {
  MPI_Comm comm;
  (void)win; /* of all ranks, in the tests */
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  PMPI_Comm_rank(comm, &own_rank);
  PMPI_Win_allocate(notification_num * sizeof *counter, sizeof *counter, MPI_INFO_NULL, comm, &counter, &counters);
  for (int i = 0; i < notification_num; i++) counter[i] = 0;
  PMPI_Win_lock_all(0, counters);
  PMPI_Barrier(comm);
  return PMPI_Comm_free(&comm);
}

int PMPIX_Win_free_notify(MPI_Win win) {
  (void)win;
  PMPI_Win_unlock_all(counters);
  return PMPI_Win_free(&counters);
}

static int update(int rank, int idx, MPI_Op op, long long value, long long *before) {
  PMPI_Fetch_and_op(&value, before, MPI_LONG_LONG, rank, idx, op, counters);
  return PMPI_Win_flush(rank, counters);
}

int PMPIX_Win_get_notify(MPI_Win win, int idx, MPI_Count *notification) {
  (void)win;
  long long value;
  int code = update(own_rank, idx, MPI_NO_OP, 0, &value);
  *notification = value;
  return code;
}

int PMPIX_Win_set_notify(MPI_Win win, int idx, MPI_Count notification) {
  (void)win;
  long long before;
  return update(own_rank, idx, MPI_REPLACE, notification, &before);
}

static int ask(void *state, MPI_Status *status) {
  (void)state;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}

static int nothing(void *state) {
  (void)state;
  return MPI_SUCCESS;
}

static int cancel(void *state, int complete) {
  (void)state, (void)complete;
  return MPI_SUCCESS;
}

/* Complete at once: the library waits in this call, which it may. */
int PMPIX_Win_get_notify_request(MPI_Win win, int idx, MPI_Count expected, MPI_Request *request) {
  MPI_Count value = 0;
  while (value < expected) PMPIX_Win_get_notify(win, idx, &value);
  PMPI_Grequest_start(ask, nothing, cancel, NULL, request);
  return PMPI_Grequest_complete(*request);
}

int PMPIX_Put_notify(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint disp, int target_count,
                     MPI_Datatype target_type, int idx, MPI_Win win) {
  long long before;
  PMPI_Put(origin, count, type, target, disp, target_count, target_type, win);
  PMPI_Win_flush(target, win);
  return update(target, idx, MPI_SUM, 1, &before);
}

int PMPIX_Get_notify(void *origin, int count, MPI_Datatype type, int target, MPI_Aint disp, int target_count,
                     MPI_Datatype target_type, int idx, MPI_Win win) {
  long long before;
  PMPI_Get(origin, count, type, target, disp, target_count, target_type, win);
  PMPI_Win_flush(target, win);
  return update(target, idx, MPI_SUM, 1, &before);
}

#define ALSO(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)))
ALSO(MPIX_Win_create_notify);
ALSO(MPIX_Win_free_notify);
ALSO(MPIX_Win_get_notify);
ALSO(MPIX_Win_set_notify);
ALSO(MPIX_Win_get_notify_request);
ALSO(MPIX_Put_notify);
ALSO(MPIX_Get_notify);
