! module mpi_f08: a module that keeps requests in a type of its own
module exchange
  use mpi_f08, only: MPI_Comm, MPI_Request, MPI_Isend, MPI_Irecv, MPI_Waitall, MPI_DOUBLE_PRECISION, &
    MPI_STATUSES_IGNORE
  implicit none
  private
  public :: halo, start, finish
  type :: halo
    type(MPI_Comm) :: comm
    type(MPI_Request) :: requests(2)
    real(8) :: out(64), in(64)
  end type
contains
  subroutine start(h, peer)
    type(halo), intent(inout) :: h
    integer, intent(in) :: peer
    call MPI_Irecv(h%in, 64, MPI_DOUBLE_PRECISION, peer, 0, h%comm, h%requests(1))
    call MPI_Isend(h%out, 64, MPI_DOUBLE_PRECISION, peer, 0, h%comm, h%requests(2))
  end subroutine
  subroutine finish(h)
    type(halo), intent(inout) :: h
    call MPI_Waitall(2, h%requests, MPI_STATUSES_IGNORE)
  end subroutine
end module
