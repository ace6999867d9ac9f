/* What MPICH 4.1 and later declare of streams (MPIX_Stream_create and the like), for libraries that
 * lack it. */
#ifndef MPIX_STREAMS_H
#define MPIX_STREAMS_H
#include <mpi.h>
#include <string.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef int MPIX_Stream;
int MPIX_Stream_create(MPI_Info info, MPIX_Stream *stream);
int MPIX_Stream_free(MPIX_Stream *stream);
int MPIX_Stream_comm_create(MPI_Comm comm, MPIX_Stream stream, MPI_Comm *newcomm);
int MPIX_Send_enqueue(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPIX_Recv_enqueue(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                      MPI_Status *status);
int MPIX_Isend_enqueue(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                       MPI_Request *request);
int MPIX_Irecv_enqueue(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                       MPI_Request *request);
int MPIX_Wait_enqueue(MPI_Request *request, MPI_Status *status);
int MPIX_Waitall_enqueue(int count, MPI_Request requests[], MPI_Status statuses[]);
int MPIX_Allreduce_enqueue(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm);
#ifdef __cplusplus
}

/* A communicator with a stream of a device, as MPICH's manual makes it. */
static inline MPI_Comm with_stream(MPI_Comm comm, void *device_stream, MPIX_Stream *stream) {
  const unsigned char *bytes = reinterpret_cast<const unsigned char *>(&device_stream);
  char value[2 * sizeof device_stream + 1] = "";
  for (unsigned i = 0; i < sizeof device_stream; i++) {
    value[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
    value[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
  }
  MPI_Info info;
  MPI_Comm made;
  MPI_Info_create(&info);
  MPI_Info_set(info, "type", "cudaStream_t");
  MPI_Info_set(info, "value", value);
  MPIX_Stream_create(info, stream);
  MPI_Info_free(&info);
  MPIX_Stream_comm_create(comm, *stream, &made);
  return made;
}
#endif
#endif
