! Where MPI_SUBARRAYS_SUPPORTED, a section with a stride is sent from where it is, without a
! copy: the elements between are the program's.
!# mpi: mpich
program f08_subarray_section
  use mpi_f08
  implicit none
  integer :: rank, peer, ierr
  type(MPI_Request) :: request
  integer, asynchronous :: out(20)
  integer :: in(10)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  out = 7
  if (MPI_SUBARRAYS_SUPPORTED) then
    call MPI_Isend(out(1:19:2), 10, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, request)
    out(2:20:2) = -1
  else
    call MPI_Isend(out, 10, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, request)
  end if
  call MPI_Recv(in, 10, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Finalize(ierr)
  if (.not. (in(10) == 7)) stop 1
end program
