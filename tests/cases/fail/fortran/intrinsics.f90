! Intrinsic functions that the runtime library does read and write buffers of pending operations.
program intrinsics
  use mpi
  implicit none
  integer, parameter :: n = 16
  integer :: rank, ierr, requests(3), place(2), at
  real(8) :: a(n, n), b(n, n), c(n, n), v(n)
  character(64) :: s, t, u
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  a = 0; b = 1; c = 2; s = 'x'; t = 'y z'; u = 'w'
  call MPI_Irecv(a, n * n, MPI_REAL8, 1 - rank, 0, MPI_COMM_WORLD, requests(1), ierr) !~ CS-BUF-02 operation !~ CS-BUF-03 operation
  call MPI_Irecv(s, 64, MPI_CHARACTER, 1 - rank, 1, MPI_COMM_WORLD, requests(2), ierr) !~ CS-BUF-02 operation
  call MPI_Isend(u, 64, MPI_CHARACTER, 1 - rank, 1, MPI_COMM_WORLD, requests(3), ierr) !~ CS-BUF-01 operation
  c = matmul(a, b) !~ CS-BUF-02 access
  c = cshift(a, 1, dim=2) !~ CS-BUF-02 access
  v = norm2(a, dim=1) !~ CS-BUF-02 access
  place = maxloc(a) !~ CS-BUF-02 access
  c = reshape(a, [n, n], order=[2, 1]) !~ CS-BUF-02 access
  at = index(s, "q") !~ CS-BUF-02 access
  at = at + scan(s, "abc") !~ CS-BUF-02 access
  at = at + verify(s, "x") !~ CS-BUF-02 access
  t = adjustl(s) !~ CS-BUF-02 access
  call date_and_time(u) !~ CS-BUF-01 access
  call random_number(a) !~ CS-BUF-03 access
  call MPI_Send(b, n * n, MPI_REAL8, 1 - rank, 0, MPI_COMM_WORLD, ierr)
  call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, ierr)
  print *, place, at, v(1), c(1, 1), t
  call MPI_Finalize(ierr)
end program
