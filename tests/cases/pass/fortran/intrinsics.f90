! Intrinsic functions that the runtime library does read and write buffers after their operations
! are complete.
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
  call MPI_Irecv(a, n * n, MPI_REAL8, 1 - rank, 0, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Irecv(s, 64, MPI_CHARACTER, 1 - rank, 1, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Isend(u, 64, MPI_CHARACTER, 1 - rank, 1, MPI_COMM_WORLD, requests(3), ierr)
  call MPI_Send(b, n * n, MPI_REAL8, 1 - rank, 0, MPI_COMM_WORLD, ierr)
  call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, ierr)
  c = matmul(a, b)
  c = cshift(a, 1, dim=2)
  v = norm2(a, dim=1)
  place = maxloc(a)
  c = reshape(a, [n, n], order=[2, 1])
  at = index(s, "q")
  at = at + scan(s, "abc")
  at = at + verify(s, "x")
  t = adjustl(s)
  call date_and_time(u)
  call random_number(a)
  print *, place, at, v(1), c(1, 1), t
  call MPI_Finalize(ierr)
end program
