# Ranks exchange halos of numpy arrays by mpi4py, with the mistake that is asked for.
import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
N = 1 << 16


def exchange(u, mistake):
    requests = [
        comm.Irecv(u[0], left),
        comm.Irecv(u[-1], right),
        comm.Isend(u[1], left),
        comm.Isend(u[-2], right),  # sends
    ]
    if mistake == "early":
        u[-2, N // 2] += 1.0  # stores
    MPI.Request.Waitall(requests)  # completes
    if mistake != "early":
        u[-2, N // 2] += 1.0


def solve(mistake):
    u = np.full((6, N), float(comm.rank))
    for _ in range(3):
        exchange(u, mistake)
    total = np.zeros(1)
    comm.Reduce(u[1:-1].sum(keepdims=False).reshape(1), total, root=0)
    # Objects travel pickled, of sizes that probes find out.
    assert comm.sendrecv({"rank": comm.rank}, right, source=left) == {"rank": left}
    return total[0]


def root(_):
    comm.bcast(None, root=comm.rank)  # differs


def wait(_):
    comm.Recv(np.zeros(1), left)  # waits


mistake = sys.argv[1]
total = {"root": root, "wait": wait}.get(mistake, solve)(mistake)
if comm.rank == 0:
    print("total", total)
