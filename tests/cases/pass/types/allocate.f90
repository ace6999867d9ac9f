! Memory that Fortran allocates is passed with the datatype that it is of, or as what the standard
! allows: arrays, components, pointers, several at once, in modules, as arguments, and storage that
! is used as another type.
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
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_loc
  implicit none
  integer, parameter :: n = 12
  integer :: ierr
  real(8), allocatable, target :: u(:)
  real(8), allocatable :: v(:, :)
  real(4), allocatable :: w(:)
  integer, allocatable :: index(:)
  integer(8), allocatable :: wide(:)
  complex(4), allocatable :: waves(:)
  complex(8), allocatable :: long_waves(:)
  logical, allocatable :: flags(:)
  real(8), pointer :: p(:)
  type(grid) :: g
  character, allocatable :: text(:)
  integer(8), pointer :: whole(:)
  type(particle), allocatable :: particles(:)

  call MPI_Init(ierr)
  allocate(u(n), v(n, n))
  call MPI_Bcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(u, n, MPI_REAL8, 0, MPI_COMM_WORLD, ierr)
  call mpi_bcast(u(3), 2, MPI_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(v, n * n, MPI_REAL8, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(v(1, 2), n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  allocate(w(n), stat=ierr)
  call MPI_Bcast(w, n, MPI_REAL, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(w, n / 2, MPI_COMPLEX, 0, MPI_COMM_WORLD, ierr)
  allocate(index(n))
  call MPI_Bcast(index, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(index, n / 2, MPI_2INTEGER, 0, MPI_COMM_WORLD, ierr)
  allocate(wide(n))
  call MPI_Bcast(wide, n, MPI_INTEGER8, 0, MPI_COMM_WORLD, ierr)
  allocate(waves(n))
  call MPI_Bcast(waves, 2 * n, MPI_REAL, 0, MPI_COMM_WORLD, ierr)
  allocate(long_waves(n))
  call MPI_Bcast(long_waves, n, MPI_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD, ierr)
  allocate(flags(n))
  call MPI_Bcast(flags, n, MPI_LOGICAL, 0, MPI_COMM_WORLD, ierr)
  allocate(p(n))
  call MPI_Bcast(p, n, MPI_REAL8, 0, MPI_COMM_WORLD, ierr)
  allocate(g%u(n, 2), &
           stat=ierr)
  call MPI_Bcast(g%u, 2 * n, MPI_REAL8, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(g%u(1, 2), n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  allocate(g%owner(n))
  call MPI_Bcast(g%owner, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  allocate(density(n))
  call MPI_Bcast(density, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  allocate(particles(n))
  call MPI_Bcast(particles, 32 * n, MPI_BYTE, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(particles(2)%cell, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD, ierr)
  call pass(u, n)
  call refresh(g)
  allocate(text(8 * n))
  call MPI_Bcast(text, n, MPI_REAL8, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(index, n, MPI_LOGICAL, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(flags, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call c_f_pointer(c_loc(u), whole, [n])
  call MPI_Bcast(whole, n, MPI_INTEGER8, 0, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)

contains

  subroutine pass(given, m)
    integer, intent(in) :: m
    real(8), intent(inout) :: given(m)
    call MPI_Bcast(given, m, MPI_REAL8, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(v, m, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine pass

  subroutine refresh(this)
    class(grid), intent(inout) :: this
    call MPI_Bcast(this%u(1, 1), n, MPI_REAL8, 0, MPI_COMM_WORLD, ierr)
  end subroutine refresh
end program main
