/* MPICH's streams on CUDA's, for MPI libraries that were built without: each operation is a
 * function of the host in its stream, as it is in MPICH. Programs need MPI_THREAD_MULTIPLE. */
#include "mpix_streams.h"
#include <stdlib.h>

int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data);

enum { MOST = 64, FIRST_REQUEST = 0x1c000000 };

struct operation {
  enum { SEND, RECV, ISEND, IRECV, WAIT, ALLREDUCE } kind;
  const void *from;
  void *to;
  int count, peer, tag, slot;
  MPI_Datatype datatype;
  MPI_Op op;
  MPI_Comm comm;
  MPI_Status *status;
};

static void *device_streams[MOST];
static int streams;
static struct { MPI_Comm comm; MPIX_Stream stream; } of_comm[MOST];
static int comms;
static struct { MPI_Request request; void *stream; } begun[MOST];
static int requests;

static void carry_out(void *data) {
  struct operation *op = data;
  switch (op->kind) {
    case SEND: PMPI_Send(op->from, op->count, op->datatype, op->peer, op->tag, op->comm); break;
    case RECV: PMPI_Recv(op->to, op->count, op->datatype, op->peer, op->tag, op->comm, op->status); break;
    case ISEND:
      PMPI_Isend(op->from, op->count, op->datatype, op->peer, op->tag, op->comm, &begun[op->slot].request);
      break;
    case IRECV:
      PMPI_Irecv(op->to, op->count, op->datatype, op->peer, op->tag, op->comm, &begun[op->slot].request);
      break;
    case WAIT: PMPI_Wait(&begun[op->slot].request, op->status); break;
    case ALLREDUCE: PMPI_Allreduce(op->from, op->to, op->count, op->datatype, op->op, op->comm); break;
  }
  free(op);
}

static int enqueue(void *stream, struct operation op) {
  struct operation *copy = malloc(sizeof *copy);
  *copy = op;
  return cudaLaunchHostFunc(stream, carry_out, copy) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void *stream_of(MPI_Comm comm) {
  for (int i = comms; i--;)
    if (of_comm[i].comm == comm) return device_streams[of_comm[i].stream];
  PMPI_Abort(comm, 1);
  return NULL;
}

int PMPIX_Stream_create(MPI_Info info, MPIX_Stream *stream) {
  char value[2 * sizeof(void *) + 1] = "";
  int flag = 0;
  PMPI_Info_get(info, "value", sizeof value - 1, value, &flag);
  unsigned char bytes[sizeof(void *)];
  for (unsigned i = 0; i < sizeof bytes; i++) {
    char digits[] = {value[2 * i], value[2 * i + 1], 0};
    bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
  }
  memcpy(&device_streams[streams], bytes, sizeof bytes);
  *stream = streams++;
  return flag ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int PMPIX_Stream_free(MPIX_Stream *stream) {
  *stream = -1;
  return MPI_SUCCESS;
}

int PMPIX_Stream_comm_create(MPI_Comm comm, MPIX_Stream stream, MPI_Comm *newcomm) {
  int code = PMPI_Comm_dup(comm, newcomm);
  of_comm[comms].comm = *newcomm;
  of_comm[comms++].stream = stream;
  return code;
}

int PMPIX_Send_enqueue(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  struct operation op = {.kind = SEND, .from = buf, .count = count, .peer = dest, .tag = tag, .datatype = datatype,
                         .comm = comm};
  return enqueue(stream_of(comm), op);
}

int PMPIX_Recv_enqueue(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                       MPI_Status *status) {
  struct operation op = {.kind = RECV, .to = buf, .count = count, .peer = source, .tag = tag, .datatype = datatype,
                         .comm = comm, .status = status};
  return enqueue(stream_of(comm), op);
}

static int begin(struct operation op, MPI_Request *request) {
  op.slot = requests++;
  begun[op.slot].stream = stream_of(op.comm);
  *request = (MPI_Request)(FIRST_REQUEST + op.slot);
  return enqueue(begun[op.slot].stream, op);
}

int PMPIX_Isend_enqueue(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                        MPI_Request *request) {
  struct operation op = {.kind = ISEND, .from = buf, .count = count, .peer = dest, .tag = tag, .datatype = datatype,
                         .comm = comm};
  return begin(op, request);
}

int PMPIX_Irecv_enqueue(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                        MPI_Request *request) {
  struct operation op = {.kind = IRECV, .to = buf, .count = count, .peer = source, .tag = tag, .datatype = datatype,
                         .comm = comm};
  return begin(op, request);
}

int PMPIX_Wait_enqueue(MPI_Request *request, MPI_Status *status) {
  struct operation op = {.kind = WAIT, .slot = (int)((long)*request - FIRST_REQUEST), .status = status};
  *request = MPI_REQUEST_NULL;
  return enqueue(begun[op.slot].stream, op);
}

int PMPIX_Waitall_enqueue(int count, MPI_Request all[], MPI_Status statuses[]) {
  int code = MPI_SUCCESS;
  for (int i = 0; i < count && !code; i++)
    code = PMPIX_Wait_enqueue(&all[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
  return code;
}

int PMPIX_Allreduce_enqueue(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm) {
  struct operation all = {.kind = ALLREDUCE, .from = sendbuf, .to = recvbuf, .count = count, .datatype = datatype,
                          .op = op, .comm = comm};
  return enqueue(stream_of(comm), all);
}

/* A library has each call under two names, so that tools may stand in front of the first. */
#define ALSO(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)))
ALSO(MPIX_Stream_create);
ALSO(MPIX_Stream_free);
ALSO(MPIX_Stream_comm_create);
ALSO(MPIX_Send_enqueue);
ALSO(MPIX_Recv_enqueue);
ALSO(MPIX_Isend_enqueue);
ALSO(MPIX_Irecv_enqueue);
ALSO(MPIX_Wait_enqueue);
ALSO(MPIX_Waitall_enqueue);
ALSO(MPIX_Allreduce_enqueue);
