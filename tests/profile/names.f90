! Several allocations on a line, and one that is small.
program names
    use mpi
    implicit none
    real(8), allocatable :: u(:), between(:), v(:), tiny(:)
    integer :: n, error, rank, size

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, size, error)
    n = 200 + command_argument_count()
    allocate (u(n), between(2 * n), v(3 * n), stat=error)
    allocate (tiny(3))
    u = rank
    between = 0
    tiny = rank
    call MPI_Sendrecv(u, n, MPI_REAL8, mod(rank + 1, size), 1, v, n, MPI_REAL8, mod(rank + size - 1, size), 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call MPI_Allreduce(MPI_IN_PLACE, tiny, 3, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Finalize(error)
end program names
