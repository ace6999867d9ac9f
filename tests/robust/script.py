# Two ranks exchange messages by MPI's C functions, with the mistake that is asked for; then comes
# MPI's library.
import ctypes
import sys

mpi = ctypes.CDLL(sys.argv[2])
is_openmpi = hasattr(mpi, "ompi_mpi_comm_world")


def handle(openmpi, mpich):
    if is_openmpi:
        return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, openmpi)))
    return ctypes.c_int(mpich)


WORLD = handle("ompi_mpi_comm_world", 0x44000000)
DOUBLE = handle("ompi_mpi_double", 0x4C00080B)


def overlap(other):
    requests = ((ctypes.c_void_p if is_openmpi else ctypes.c_int) * 4)()
    request = [ctypes.byref(requests, n * ctypes.sizeof(requests) // 4) for n in range(4)]
    early, late, values = ((ctypes.c_double * 8)() for _ in range(3))
    mpi.MPI_Irecv(early, 8, DOUBLE, other, 0, WORLD, request[0])  # first
    mpi.MPI_Irecv(early, 8, DOUBLE, other, 1, WORLD, request[1])  # second
    mpi.MPI_Irecv(late, 8, DOUBLE, other, 2, WORLD, request[2])  # third
    mpi.MPI_Irecv(late, 8, DOUBLE, other, 3, WORLD, request[3])  # fourth
    for tag in range(4):
        mpi.MPI_Send(values, 8, DOUBLE, other, tag, WORLD)
    mpi.MPI_Waitall(4, requests, STATUSES)


def wait(other):
    mpi.MPI_Recv((ctypes.c_double * 8)(), 8, DOUBLE, other, 0, WORLD, STATUSES)  # waits


mpi.MPI_Init(None, None)
STATUSES = ctypes.create_string_buffer(256)
rank = ctypes.c_int()
mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
{"overlap": overlap, "wait": wait}[sys.argv[1]](1 - rank.value)
mpi.MPI_Finalize()
