# A message from each rank to the next, by MPI's C functions; the last argument is MPI's library.
import ctypes
import sys

mpi = ctypes.CDLL(sys.argv[-1])


def handle(openmpi, mpich):
    if hasattr(mpi, openmpi):
        return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, openmpi)))
    return ctypes.c_int(mpich)


WORLD = handle("ompi_mpi_comm_world", 0x44000000)
DOUBLE = handle("ompi_mpi_double", 0x4C00080B)


def number(ask):
    value = ctypes.c_int()
    ask(WORLD, ctypes.byref(value))
    return value.value


def send(rank, size, values):
    mpi.MPI_Send(values, len(values), DOUBLE, (rank + 1) % size, 0, WORLD)  # sends


def receive(rank, size, values):
    mpi.MPI_Recv(values, len(values), DOUBLE, (rank - 1) % size, 0, WORLD, STATUS)  # receives


mpi.MPI_Init(None, None)
STATUS = ctypes.create_string_buffer(64)
rank, size = number(mpi.MPI_Comm_rank), number(mpi.MPI_Comm_size)
field = (ctypes.c_double * int(sys.argv[1]))()
for step in range(3):
    for turn in (send, receive) if rank == 0 else (receive, send):
        turn(rank, size, field)  # turns
mpi.MPI_Finalize()
