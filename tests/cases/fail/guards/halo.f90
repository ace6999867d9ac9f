! A field is changed, and its halo used, while both are exchanged.
!# hooks: none
!# options: --guards
program main
  use mpi_f08
  implicit none
  integer, parameter :: n = 300
  real(8), asynchronous :: field(n, n), halo(n, 100)
  type(MPI_Request) :: requests(2)
  integer :: rank, i
  real(8) :: total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  field = rank
  call MPI_Irecv(halo, n*100, MPI_DOUBLE_PRECISION, 1 - rank, 0, MPI_COMM_WORLD, requests(1)) !~ CS-BUF-02 operation
  call MPI_Isend(field(:, 1:100), n*100, MPI_DOUBLE_PRECISION, 1 - rank, 0, MPI_COMM_WORLD, requests(2)) !~ CS-BUF-01 operation
  do i = 1, 100
    field(:, i) = field(:, i) + 1 !~ CS-BUF-01 access
  end do
  total = sum(halo) !~ CS-BUF-02 access
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call MPI_Finalize()
  if (total < 0) error stop
end program
