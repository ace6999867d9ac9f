// A sample sort exchanges keys and merges them once they arrived.
#include <mpi.h>
#include <stdlib.h>

enum { KEYS = 300, LARGEST = 1000 };

static int by_value(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Small keys stay on rank 0, large ones on rank 1. */
static int split(const int *keys, int n, int pivot) {
  int i = 0;
  while (i < n && keys[i] < pivot) {
    i++;
  }
  return i;
}

static int arrived(const int *keys, int i) {
  return keys[i];
}

static int merge(int *to, const int *mine, int n, const int *other, int m) {
  int i = 0, j = 0, k = 0;
  while (i < n || j < m) {
    int theirs = j < m ? arrived(other, j) : LARGEST;
    if (i < n && mine[i] <= theirs) {
      to[k++] = mine[i++];
    } else {
      to[k++] = theirs;
      j++;
    }
  }
  return k;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int *keys = malloc(KEYS * sizeof(int)), *received = calloc(KEYS, sizeof(int));
  int *sorted = malloc(2 * KEYS * sizeof(int));
  unsigned state = 17 + rank;
  for (int i = 0; i < KEYS; i++) {
    state = state * 1103515245u + 12345u;
    keys[i] = (int)(state >> 16) % LARGEST;
  }
  qsort(keys, KEYS, sizeof(int), by_value);

  int cut = split(keys, KEYS, 500);
  int *leaving = rank == 0 ? keys + cut : keys;
  int *staying = rank == 0 ? keys : keys + cut;
  int out = rank == 0 ? KEYS - cut : cut, in, stay = KEYS - out;
  MPI_Sendrecv(&out, 1, MPI_INT, peer, 0, &in, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

  MPI_Request requests[2];
  MPI_Irecv(received, in, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(leaving, out, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  int total = merge(sorted, staying, stay, received, in);

  int good = total == stay + in;
  for (int i = 1; i < total; i++) {
    good = good && sorted[i - 1] <= sorted[i];
  }
  free(keys);
  free(received);
  free(sorted);

  MPI_Finalize();
  return good ? 0 : 1;
}
