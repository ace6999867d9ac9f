! Memory that Fortran allocates is passed with the datatype of something else: by ALLOCATE of
! arrays, components, pointers and several at once, in modules, and as arguments.
!# np: 2
!# levels: -O0 -O2
module fields
  implicit none
  type particle
    sequence
    real(8) :: x(3)
    integer(8) :: cell
  end type particle
  type grid
    real(8), allocatable :: u(:, :)
    integer, pointer :: owner(:)
  end type grid
  real(8), allocatable :: density(:)
end module fields

program main
  use mpi
  use fields
  implicit none
  integer, parameter :: n = 12
  integer :: ierr
  real(8), allocatable :: u(:), v(:, :)
  real(4), allocatable :: w(:)
  integer, allocatable :: index(:)
  integer(8), allocatable :: wide(:)
  complex(4), allocatable :: waves(:)
  complex(8), allocatable :: long_waves(:)
  logical, allocatable :: flags(:)
  real(8), pointer :: p(:)
  type(grid) :: g
  type(particle), allocatable :: particles(:)

  call MPI_Init(ierr)
  allocate(u(n), v(n, n))
  call MPI_Bcast(u, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  call MPI_Bcast(u, n, MPI_REAL, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  call mpi_bcast(u(3), 4, MPI_INTEGER8, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  call MPI_Bcast(v, n * n, MPI_REAL4, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  call MPI_Bcast(v(1, 2), n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  allocate(w(n), stat=ierr)
  call MPI_Bcast(w, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  call MPI_Bcast(w, n / 2, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  allocate(index(n))
  call MPI_Bcast(index, n, MPI_REAL, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  call MPI_Bcast(index, n / 2, MPI_INTEGER8, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  allocate(wide(n))
  call MPI_Bcast(wide, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  allocate(waves(n))
  call MPI_Bcast(waves, n / 2, MPI_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  allocate(long_waves(n))
  call MPI_Bcast(long_waves, n, MPI_COMPLEX, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  allocate(flags(n))
  call MPI_Bcast(flags, n, MPI_REAL, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  allocate(p(n))
  call MPI_Bcast(p, n, MPI_REAL, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  allocate(g%u(n, 2), &
           stat=ierr)
  call MPI_Bcast(g%u, 2 * n, MPI_REAL, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  call MPI_Bcast(g%u(1, 2), n, MPI_INTEGER8, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  allocate(g%owner(n))
  call MPI_Bcast(g%owner, n, MPI_REAL, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  allocate(density(n))
  call MPI_Bcast(density, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  allocate(particles(n))
  call MPI_Bcast(particles, 4 * n, MPI_REAL8, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  call MPI_Bcast(particles(2)%cell, 1, MPI_REAL8, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  call pass(u, n)
  call refresh(g)
  call MPI_Finalize(ierr)

contains

  subroutine pass(given, m)
    integer, intent(in) :: m
    real(8), intent(inout) :: given(m)
    call MPI_Bcast(given, m, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
    call MPI_Bcast(v, m, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  end subroutine pass

  subroutine refresh(this)
    class(grid), intent(inout) :: this
    call MPI_Bcast(this%u(1, 1), n, MPI_REAL, 0, MPI_COMM_WORLD, ierr) !~ CS-ARG-03 operation ranks=0,1
  end subroutine refresh
end program main
