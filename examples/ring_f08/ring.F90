! Each rank hands a vector on around a ring, until everybody has added up all of them.
! Compiled with -DBUGGY, it prepares the next round while the vector is still being sent.
program ring
  use mpi_f08
  implicit none
  integer, parameter :: n = 1000
  real(8), asynchronous :: mine(n), theirs(n)
  real(8) :: total(n)
  type(MPI_Request) :: send, receive
  integer :: rank, ranks, left, right, round

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = modulo(rank + 1, ranks)
  left = modulo(rank - 1, ranks)

  mine = rank + 1
  total = mine
  do round = 1, ranks - 1
    call MPI_Irecv(theirs, n, MPI_REAL8, left, round, MPI_COMM_WORLD, receive)
    call MPI_Isend(mine, n, MPI_REAL8, right, round, MPI_COMM_WORLD, send)
    call MPI_Wait(receive, MPI_STATUS_IGNORE)
    total = total + theirs
#ifndef BUGGY
    call MPI_Wait(send, MPI_STATUS_IGNORE)
#endif
    mine = theirs
#ifdef BUGGY
    call MPI_Wait(send, MPI_STATUS_IGNORE)
#endif
  end do

  print '(a,i0,a,f0.1)', 'rank ', rank, ' has ', total(n)
  call MPI_Finalize()
end program ring
