! Global sums of an ocean's points that MPI ranks share, the same bits for any number of ranks:
! ocean_fortran [POINTS]. Prints each as the bits of the double in hexadecimal, and as a number.
program ocean
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08, only: MPI_Bcast, MPI_Comm_rank, MPI_Comm_size, MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, &
    MPI_Finalize, MPI_Init_thread, MPI_THREAD_FUNNELED
  use warpfold
  implicit none

  type(warpfold_collectives) :: global
  integer :: rank, ranks, ierror, provided
  integer(int64) :: points, first, n, i, number
  real(real64), allocatable :: state(:, :), prefixes(:)
  integer(int64), allocatable :: numbers(:)
  logical, allocatable :: wet(:)
  real(real64) :: sums(2), heat, coldest, last
  character(len=20) :: argument

  points = 100003
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) points
  end if
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  first = points * rank / ranks
  n = points * (rank + 1) / ranks - first
  allocate (state(n, 2), prefixes(n), numbers(n), wet(n))
  do i = 1, n
    state(i, 1) = temperature_at(first + i - 1)
    state(i, 2) = volume_at(first + i - 1)
    numbers(i) = mixed(first + i - 1)
    wet(i) = mod(first + i - 1, 5_int64) /= 0
  end do

  ! With module mpi it is call warpfold_create(MPI_COMM_WORLD, global).
  call warpfold_create(MPI_COMM_WORLD%MPI_VAL, global)
  call warpfold_sums(global, state, sums, wet)  ! one message
  call warpfold_dot(global, state(:, 1), state(:, 2), heat, wet)
  call warpfold_min(global, state(:, 1), coldest, wet)
  call warpfold_sum(global, numbers, number)
  call warpfold_scan(global, state(:, 1), prefixes)
  last = 0
  if (n > 0) last = prefixes(n)
  call MPI_Bcast(last, 1, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD)

  call print_sum("temperature", sums(1))
  call print_sum("volume", sums(2))
  call print_sum("heat", heat)
  call print_sum("coldest", coldest)
  call print_sum("last prefix", last)
  if (rank == 0) print "(a13, 1x, i0)", "numbers      ", number

  ! A mistake of one rank is an error on all.
  if (rank == ranks - 1) then
    call warpfold_sum(global, state(:, 2), heat, [wet, .true.], ierror)
  else
    call warpfold_sum(global, state(:, 2), heat, wet, ierror)
  end if
  if (rank == 0) print "(a13, 1x, i0, 2a)", "mistake      ", ierror, ": ", warpfold_message()

  call warpfold_free(global)
  call MPI_Finalize()

contains

  ! Numbers from 0 to 2^31 - 1 that look random.
  integer(int64) function mixed(i)
    integer(int64), intent(in) :: i
    mixed = mod(i * 1103515245_int64 + 12345, 2_int64**31)
  end function

  real(real64) function temperature_at(i)
    integer(int64), intent(in) :: i
    temperature_at = scale(real(mixed(i) - 2_int64**30, real64), int(mod(i, 41_int64)) - 50)
  end function

  real(real64) function volume_at(i)
    integer(int64), intent(in) :: i
    volume_at = scale(real(mixed(i + 7777777), real64), int(mod(i, 31_int64)) - 15)
  end function

  subroutine print_sum(name, value)
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: value
    character(len=13) :: label
    label = name
    if (rank == 0) print "(a13, 1x, z16.16, 2x, es24.16e3)", label, transfer(value, 0_int64), value
  end subroutine

end program
