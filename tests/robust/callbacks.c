// MPI calls the program back, in the middle of other calls: reduction operations, attribute
// functions, generalized requests, error handlers. They may touch what MPI gives them, call MPI,
// and start and complete operations of their own.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 1000 };

static int rank, size, copied, deleted, queried, freed, failed;
static double in[N], out[N], message[8];
static long wrong;

#define CHECK(right) \
  do { \
    if (!(right)) { \
      wrong++; \
      fprintf(stderr, "line %d: not %s\n", __LINE__, #right); \
    } \
  } while (0)

static void add(void *a, void *b, int *n, MPI_Datatype *type) {
  int bytes;
  MPI_Type_size(*type, &bytes);
  for (int i = 0; i < *n * (bytes / (int)sizeof(double)); i++) ((double *)b)[i] += ((double *)a)[i];
}

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *result, int *flag) {
  (void)comm, (void)key, (void)extra;
  copied++;
  *(void **)result = value;
  *flag = 1;
  return MPI_SUCCESS;
}

// Sends a message before the communicator goes.
static int delete(MPI_Comm comm, int key, void *value, void *extra) {
  (void)key, (void)extra;
  MPI_Request requests[2];
  double *buffer = value, received[8];
  MPI_Irecv(received, 8, MPI_DOUBLE, rank, 9, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(buffer, 8, MPI_DOUBLE, rank, 9, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(received[7] == 7);
  (void)comm;
  deleted++;
  return MPI_SUCCESS;
}

static int query(void *extra, MPI_Status *status) {
  (void)extra;
  queried++;
  MPI_Status_set_elements(status, MPI_INT, 3);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int release(void *extra) {
  (void)extra;
  freed++;
  return MPI_SUCCESS;
}
static int cancel(void *extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}

static void *finish(void *request) {
  usleep(20000);
  MPI_Grequest_complete(*(MPI_Request *)request);
  return NULL;
}

static void note_error(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  failed++;
}

static void reductions(void) {
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  for (int i = 0; i < N; i++) in[i] = rank + i;
  MPI_Request request;
  MPI_Iallreduce(in, out, N, MPI_DOUBLE, op, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < N; i++) CHECK(out[i] == size * i + size * (size - 1) / 2);
  MPI_Datatype row;
  MPI_Type_contiguous(10, MPI_DOUBLE, &row);
  MPI_Type_commit(&row);
  MPI_Reduce(in, out, N / 10, row, op, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < N; i++) CHECK(out[i] == size * i + size * (size - 1) / 2);
  MPI_Allreduce(MPI_IN_PLACE, in, N, MPI_DOUBLE, op, MPI_COMM_WORLD);
  MPI_Scan(in, out, N, MPI_DOUBLE, op, MPI_COMM_WORLD);
  MPI_Type_free(&row);
  MPI_Op_free(&op);
}

static void attributes(void) {
  int key;
  MPI_Comm first, second;
  MPI_Comm_create_keyval(copy, delete, &key, NULL);
  MPI_Comm_dup(MPI_COMM_SELF, &first);
  for (int i = 0; i < 8; i++) message[i] = i;
  MPI_Comm_set_attr(first, key, message);
  MPI_Comm_dup(first, &second);
  MPI_Comm_free(&second);
  MPI_Comm_free(&first);
  // MPI_Finalize deletes attributes of MPI_COMM_SELF first, when messages still work.
  MPI_Comm_set_attr(MPI_COMM_SELF, key, message);
  CHECK(copied == 1 && deleted == 2);
}

static void generalized(void) {
  MPI_Request requests[3];
  pthread_t thread;
  MPI_Grequest_start(query, release, cancel, NULL, &requests[0]);
  MPI_Irecv(out, 8, MPI_DOUBLE, rank, 4, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(in, 8, MPI_DOUBLE, rank, 4, MPI_COMM_WORLD, &requests[2]);
  pthread_create(&thread, NULL, finish, &requests[0]);
  pthread_join(thread, NULL);
  MPI_Status statuses[3];
  MPI_Waitall(3, requests, statuses);
  CHECK(queried == 1 && freed == 1);
  for (int i = 0; i < 8; i++) out[i] = in[i] = 1;
}

static void errors(void) {
  MPI_Errhandler handler;
  MPI_Comm comm;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(note_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  // Such an operation has never started.
  CHECK(MPI_Isend(in, 8, MPI_DOUBLE, size + 5, 0, comm, &request) != MPI_SUCCESS);
  CHECK(MPI_Irecv(out, -1, MPI_DOUBLE, 0, 0, comm, &request) != MPI_SUCCESS);
  in[0] = out[0] = 2;
  CHECK(failed == 2);
  // One message is too long, the other arrives.
  MPI_Request requests[2];
  MPI_Irecv(out, 1, MPI_DOUBLE, rank, 5, comm, &requests[0]);
  MPI_Irecv(out + 8, 8, MPI_DOUBLE, rank, 6, comm, &requests[1]);
  MPI_Send(in, 8, MPI_DOUBLE, rank, 6, comm);
  MPI_Send(in, 8, MPI_DOUBLE, rank, 5, comm);
  MPI_Status statuses[2];
  // Open MPI 4.1 says nothing of it to oneself.
  MPI_Waitall(2, requests, statuses);
  CHECK(requests[0] == MPI_REQUEST_NULL);
  for (int i = 0; i < 2; i++)
    if (requests[i] != MPI_REQUEST_NULL) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  for (int i = 0; i < 16; i++) out[i] = 3;
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  reductions();
  attributes();
  generalized();
  errors();
  MPI_Finalize();
  CHECK(deleted == 3);
  printf("rank %d: %ld wrong\n", rank, wrong);
  return wrong != 0;
}
