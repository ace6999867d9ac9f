! module mpi_f08: strided sections, which the library reads and writes where they are
program sections_f08
  use mpi_f08
  implicit none
  real(8) :: field(10, 10)
  call MPI_Init()
  field = 1
  call exchange(field)
  call whole(field, 3)
  print *, sum(field)
  call MPI_Finalize()
contains
  subroutine exchange(a)
    real(8), intent(inout) :: a(:, :)
    type(MPI_Request) :: requests(2)
    call MPI_Irecv(a(10, :), 10, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(a(2, :), 10, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, requests(2))
    a(5, 5) = 2
    a(3, :) = 4
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  end subroutine
  subroutine whole(a, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(10, 10)
    type(MPI_Request) :: request
    call MPI_Isend(a(1:10:n, 2), 4, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, request)
    a(2, 2) = 1
    call MPI_Wait(request, MPI_STATUS_IGNORE)
  end subroutine
end program
