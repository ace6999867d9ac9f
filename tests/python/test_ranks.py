# Tests that all ranks of a job run together: `mpirun -n 2 python -m pytest`.
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
other = comm.size - 1 - comm.rank


def test_right():
    send, receive = np.arange(8.0), np.zeros(8)
    requests = [comm.Isend(send, other), comm.Irecv(receive, other)]
    MPI.Request.Waitall(requests)
    assert (receive == send).all()


def test_early():
    send, receive = np.arange(8.0), np.zeros(8)
    requests = [comm.Isend(send, other), comm.Irecv(receive, other)]  # sends
    send[3] = -1.0
    MPI.Request.Waitall(requests)  # completes
    assert receive[7] == 7.0
