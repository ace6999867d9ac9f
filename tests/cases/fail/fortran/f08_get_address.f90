! Two members of a derived type are received, and one of them is set.
program f08_get_address
  use mpi_f08
  implicit none
  type, bind(c) :: particle
    real(8) :: position
    integer :: cell, charge
    real(8) :: momentum
  end type
  integer :: rank, peer, ierr
  type(MPI_Request) :: request
  type(MPI_Datatype) :: message
  type(particle), asynchronous :: mine, theirs
  integer(MPI_ADDRESS_KIND) :: base, at(2)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  mine = particle(1d0, 2, 3, 4d0)
  theirs = particle(0d0, 0, 0, 0d0)
  call MPI_Get_address(theirs, base)
  call MPI_Get_address(theirs%position, at(1))
  call MPI_Get_address(theirs%momentum, at(2))
  at = at - base
  call MPI_Type_create_struct(2, [1, 1], at, [MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION], message)
  call MPI_Type_commit(message)
  call MPI_Irecv(theirs, 1, message, peer, 0, MPI_COMM_WORLD, request) !~ CS-BUF-03 operation
  call MPI_Send(mine, 1, message, peer, 0, MPI_COMM_WORLD)
  theirs%momentum = 0 !~ CS-BUF-03 access
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Type_free(message)
  print *, theirs%momentum == 4 .and. theirs%charge == -3
  call MPI_Finalize(ierr)
end program
