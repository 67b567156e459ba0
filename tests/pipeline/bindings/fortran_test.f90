! Checks the Fortran module on any number of ranks, of which each has the same elements but the last,
! which has none: stops with an error where a check fails.
program fortran_test
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use mpi
  use warpfold
  implicit none

  type(warpfold_collectives) :: global
  integer :: rank, ranks, ierror, sharers
  integer(int64) :: n

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call warpfold_create(MPI_COMM_WORLD, global)
  sharers = max(1, ranks - 1)
  n = merge(0, 4, rank == ranks - 1 .and. ranks > 1)

  call check_reals
  call check_integers
  call check_fields_of_any_rank
  call check_masks
  call check_scans
  call check_mistakes

  call warpfold_free(global)
  call MPI_Finalize(ierror)
  if (rank == 0) print "(a)", "passed"

contains

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    print "(a, i0, 2a)", "rank ", rank, ": wrong: ", what
    error stop 1
  end subroutine

  subroutine check_reals
    real(real32) :: x(4) = [2.0_real32**100, 1.0_real32, -2.0_real32**100, 2.0_real32**(-140)]
    real(real64) :: y(4) = [2.0_real64**1000, 3.0_real64, -2.0_real64**1000, 2.0_real64**(-1074)]
    real(real64) :: total
    call warpfold_sum(global, x(:n), total)
    call check(total == sharers, "sum of real32")
    call warpfold_sum(global, y(:n:2), total)
    call check(total == 0, "sum of every second element")
    call warpfold_sum(global, y(:n), total)
    call check(total == 3 * sharers, "sum of real64")
    call warpfold_dot(global, y(:n), y(n:1:-1), total)
    call check(total == -6 * 2.0_real64**1000 * sharers, "dot product of real64")
    call warpfold_dot(global, x(2:n), x(2:n), total)
    call check(total == 2.0_real64**200 * sharers, "dot product of real32, rounded once")
    call warpfold_min(global, x(:n), total)
    call check(total == -2.0_real64**100, "minimum of real32")
    call warpfold_max(global, y(:n), total)
    call check(total == 2.0_real64**1000, "maximum of real64")
  end subroutine

  subroutine check_integers
    integer(int32) :: x(4) = [huge(1_int32), huge(1_int32), -1_int32, 2_int32]
    integer(int64) :: y(4) = [2_int64**40, -3_int64, 5_int64, 7_int64], total
    call warpfold_sum(global, x(:n), total)
    call check(total == sharers * (2_int64**32 - 1), "sum of int32")
    call warpfold_sum(global, y(:n), total)
    call check(total == sharers * (2_int64**40 + 9), "sum of int64")
    call warpfold_dot(global, x(3:n), x(3:n), total)
    call check(total == 5 * sharers, "dot product of int32")
    call warpfold_dot(global, y(2:n), y(2:n), total)
    call check(total == 83 * sharers, "dot product of int64")
    call warpfold_min(global, y(:n), total)
    call check(total == -3, "minimum of int64")
    call warpfold_max(global, x(:n), total)
    call check(total == huge(1_int32), "maximum of int32")
  end subroutine

  subroutine check_fields_of_any_rank
    real(real64) :: x(2, 2, 3), totals(3)
    integer(int32) :: i
    logical :: mask(2, 2)
    x = reshape([(real(i, real64), i = 1, 12)], [2, 2, 3])
    mask = reshape([.true., .false., .false., .true.], [2, 2])
    call warpfold_sums(global, x, totals)
    call check(all(totals == [10, 26, 42] * ranks), "sums of three fields")
    call warpfold_sums(global, x, totals, mask)
    call check(all(totals == [5, 13, 21] * ranks), "sums of three fields under a mask")
    call warpfold_dots(global, x, x, totals, mask)
    call check(all(totals == [17, 89, 225] * ranks), "dot products of three fields")
  end subroutine

  subroutine check_masks
    real(real64) :: x(4), total
    logical :: mask(4) = [.true., .false., .true., .true.]
    x = [5.0_real64, ieee_value(1.0_real64, ieee_quiet_nan), 9.0_real64, -2.0_real64]
    call warpfold_sum(global, x(:n), total)
    call check(total /= total, "sum with NaN")
    call warpfold_sum(global, x(:n), total, mask(:n))
    call check(total == 12 * sharers, "sum under a mask")
    call warpfold_dot(global, x(:n), x(:n), total, mask(:n))
    call check(total == 110 * sharers, "dot product under a mask")
    call warpfold_min(global, x(:n), total, mask(:n))
    call check(total == -2, "minimum under a mask")
  end subroutine

  subroutine check_scans
    real(real32) :: x(4) = [1.0_real32, 2.0_real32, 3.0_real32, 4.0_real32], prefixes(4)
    integer(int32) :: i(4) = [1, 2, 3, 4]
    integer(int64) :: running(4)
    real(real64) :: apart(8)
    call warpfold_scan(global, x(:n), prefixes(:n))
    if (n > 0) call check(all(prefixes == 10 * rank + [1, 3, 6, 10]), "running sums of real32")
    apart = -1
    call warpfold_scan(global, real(x(:n), real64), apart(:2 * n:2))
    if (n > 0) call check(all(apart(::2) == 10 * rank + [1, 3, 6, 10]), "running sums apart")
    call check(all(apart(2::2) == -1), "what lies between them")
    call warpfold_scan(global, i(:n), running(:n), exclusive=.true.)
    if (n > 0) call check(all(running == 10 * rank + [0, 1, 3, 6]), "running sums before each int32")
  end subroutine

  subroutine check_mistakes
    real(real64) :: x(4) = 1, y(5) = 1, total, totals(2)
    logical :: mask(5) = .true.
    integer :: size_here
    size_here = merge(5, 4, rank == ranks - 1)
    call warpfold_sum(global, x, total, mask(:size_here), ierror)
    call check(ierror == warpfold_usage, "code of a mask that is too long")
    call check(warpfold_message() == "the mask is not as large as a field.", "its message")
    call warpfold_dot(global, x, y(:size_here), total, ierror=ierror)
    call check(ierror == warpfold_usage, "code of arrays that differ")
    call check(warpfold_message() == "two arrays of a call differ in size.", "their message")
    call warpfold_sums(global, y(:size_here), totals, ierror=ierror)
    call check(ierror == warpfold_usage, "code of fields that don't fit")
    call warpfold_scan(global, x, y(:size_here), ierror=ierror)
    call check(ierror == warpfold_usage, "code of prefixes that don't fit")
    call warpfold_sum(global, x, total, ierror=ierror)
    call check(ierror == warpfold_ok .and. total == 4 * ranks, "a call after mistakes")
  end subroutine

end program
