/* Each kind of access: by instructions of all sorts, in the C library, by the system. The rest of
   the data arrives as it would. */
//# hooks: none
//# options: --guards
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64, SIZE = PAGES * PAGE };

static char out[SIZE + 2 * PAGE], in[SIZE + 2 * PAGE], other[SIZE];
static volatile int found;

static int descending(const void *a, const void *b) { return *(const char *)b - *(const char *)a; }

/* Vectors, as compilers and libraries use them. */
static void copy_vectors(char *to, const char *from) {
  typedef long vector __attribute__((vector_size(32), aligned(1)));
  for (int i = 0; i < 4; i++) ((vector *)to)[i] = ((const vector *)from)[i]; //~ CS-BUF-01 access //~ CS-BUF-02 access
}

static void copy_string(char *to, const char *from, size_t size) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory"); //~ CS-BUF-01 access //~ CS-BUF-02 access
}

static void use(void) {
  int ends[2];
  if (pipe(ends) != 0) abort();
  FILE *null = fopen("/dev/null", "w");

  /* What is being sent is written. */
  out[2 * PAGE + 100] = 1; //~ CS-BUF-01 access
  __atomic_fetch_add((int *)&out[4 * PAGE], 1, __ATOMIC_RELAXED); //~ CS-BUF-01 access
  copy_vectors(&out[6 * PAGE], other);
  copy_string(&out[8 * PAGE], other, 100);
  memset(&out[10 * PAGE], 0, 2 * PAGE); //~ CS-BUF-01 access
  strcpy(&out[14 * PAGE], "text"); //~ CS-BUF-01 access
  qsort(&out[16 * PAGE], 100, 1, descending); //~ CS-BUF-01 access
  if (write(ends[1], other, 10) != 10 || read(ends[0], &out[18 * PAGE], 10) != 10) abort(); //~ CS-BUF-01 access

  /* What is being received is read and written. */
  found = in[2 * PAGE + 100]; //~ CS-BUF-02 access
  in[4 * PAGE] = 1; //~ CS-BUF-03 access
  copy_vectors(other, &in[6 * PAGE]);
  copy_string(other, &in[8 * PAGE], 100);
  memcpy(other, &in[10 * PAGE], 2 * PAGE); //~ CS-BUF-02 access
  found = memchr(&in[14 * PAGE], 7, 100) != NULL; //~ CS-BUF-02 access
  if (write(ends[1], &in[18 * PAGE], 10) != 10 || read(ends[0], other, 10) != 10) abort(); //~ CS-BUF-02 access
  fwrite(&in[20 * PAGE], 1, 100, null); //~ CS-BUF-02 access
  struct iovec parts[2] = {{other, 10}, {&in[22 * PAGE], 10}};
  if (writev(ends[1], parts, 2) != 20 || read(ends[0], other, 20) != 20) abort(); //~ CS-BUF-02 access
  fclose(null);
  close(ends[0]);
  close(ends[1]);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request requests[2];
  memset(out, rank + 1, sizeof out);
  MPI_Irecv(in, sizeof in, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]); //~ CS-BUF-02 operation //~ CS-BUF-03 operation
  MPI_Isend(out, sizeof out, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-01 operation
  use();
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  int wrong = in[SIZE] != 2 - rank;
  MPI_Finalize();
  return wrong;
}
