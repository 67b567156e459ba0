! warpfold's sums, extrema and running sums of arrays that MPI ranks hold, and its reductions and
! scans of files, in Fortran. Routines for arrays are collective: all ranks of the communicator call
! them, with arrays of one kind. So is warpfold_run, with the same options.
!
! A rank's elements are an array of any rank: real(real32), real(real64), integer(int32) or
! integer(int64). Sums and extrema of reals are real(real64), the nearest to the true values; those
! of integers are integer(int64). A mask is as large as a field, and elements where it is .false. are
! left out. Without `ierror` an error stops the program; with it, it is warpfold_ok,
! warpfold_failed or warpfold_usage, on all ranks alike, and warpfold_message() tells more.
! warpfold.h, the C interface below, says more on each.
module warpfold
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
  implicit none
  private

  public :: warpfold_collectives, warpfold_create, warpfold_free, warpfold_message
  public :: warpfold_sum, warpfold_sums, warpfold_dot, warpfold_dots
  public :: warpfold_min, warpfold_max, warpfold_scan
  public :: warpfold_request, warpfold_prepare, warpfold_set, warpfold_run, warpfold_get

  integer, parameter, public :: warpfold_ok = 0, warpfold_failed = 1, warpfold_usage = 2

  type :: warpfold_collectives
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! A reduction or a scan of a dataset in an HDF5 file, with the command's options by their names.
  ! call warpfold_prepare("reduce", request [, ierror])
  ! call warpfold_set(request, "ops", "mean,max" [, ierror=ierror])    ! as often as there are options
  ! call warpfold_run(request, communicator, "year.nc", "temp" [, ierror])
  ! call warpfold_get(request, "mean", value [, ierror])
  type :: warpfold_request
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  integer(c_int), parameter :: f32 = 0, f64 = 1, i32 = 2, i64 = 3

  ! x: elements; n = size(x). y: as many factors.
  ! call warpfold_sum(collectives, x, total [, mask] [, ierror])
  interface warpfold_sum
    procedure sum_f32, sum_f64, sum_i32, sum_i64
  end interface
  interface warpfold_min
    procedure min_f32, min_f64, min_i32, min_i64
  end interface
  interface warpfold_max
    procedure max_f32, max_f64, max_i32, max_i64
  end interface

  ! call warpfold_dot(collectives, x, y, total [, mask] [, ierror])
  interface warpfold_dot
    procedure dot_f32, dot_f64, dot_i32, dot_i64
  end interface

  ! Fields are those of the last dimension, size(totals) of them, summed by one message.
  ! call warpfold_sums(collectives, x, totals [, mask] [, ierror])
  interface warpfold_sums
    procedure sums_f32, sums_f64, sums_i32, sums_i64
  end interface

  ! call warpfold_dots(collectives, x, y, totals [, mask] [, ierror])
  interface warpfold_dots
    procedure dots_f32, dots_f64, dots_i32, dots_i64
  end interface

  ! Prefixes have x's kind; of integers they are integer(int64).
  ! call warpfold_scan(collectives, x, prefixes [, exclusive] [, ierror])
  interface warpfold_scan
    procedure scan_f32, scan_f64, scan_i32, scan_i64
  end interface

  ! value: real(real64), integer(int64) or character(len=:), allocatable, of a result by its name.
  interface warpfold_get
    procedure get_real, get_integer, get_text
  end interface

  interface warpfold_free
    procedure free_collectives, free_request
  end interface

  interface
    function c_prepare(command, made) bind(c, name="warpfold_request_create") result(status)
      import :: c_char, c_int, c_ptr
      character(kind=c_char), intent(in) :: command(*)
      type(c_ptr), intent(out) :: made
      integer(c_int) :: status
    end function
    function c_set(handle, option, text) bind(c, name="warpfold_request_set") result(status)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: option(*)
      character(kind=c_char), intent(in), optional :: text(*)
      integer(c_int) :: status
    end function
    function c_run(handle, communicator, file, dataset) bind(c, name="warpfold_request_run_f") &
        result(status)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: communicator
      character(kind=c_char), intent(in) :: file(*), dataset(*)
      integer(c_int) :: status
    end function
    function c_real(handle, name, number) bind(c, name="warpfold_request_real") result(status)
      import :: c_char, c_double, c_int, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(out) :: number
      integer(c_int) :: status
    end function
    function c_integer(handle, name, number) bind(c, name="warpfold_request_integer") &
        result(status)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(out) :: number
      integer(c_int) :: status
    end function
    function c_text(handle, name, text) bind(c, name="warpfold_request_text") result(status)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(out) :: text
      integer(c_int) :: status
    end function
    function c_free_request(handle) bind(c, name="warpfold_request_free") result(status)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: handle
      integer(c_int) :: status
    end function
    function c_create(communicator, made) bind(c, name="warpfold_create_f") result(status)
      import :: c_int, c_ptr
      integer(c_int), value :: communicator
      type(c_ptr), intent(out) :: made
      integer(c_int) :: status
    end function
    function c_free(handle) bind(c, name="warpfold_free") result(status)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: handle
      integer(c_int) :: status
    end function
    function c_message() bind(c, name="warpfold_error_message") result(message)
      import :: c_ptr
      type(c_ptr) :: message
    end function
    function c_sums(handle, element, fields, x, n, mask, totals) bind(c, name="warpfold_sums") &
        result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle, x, mask, totals
      integer(c_int), value :: element
      integer(c_int64_t), value :: fields, n
      integer(c_int) :: status
    end function
    function c_dots(handle, element, fields, x, y, n, mask, totals) bind(c, name="warpfold_dots") &
        result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle, x, y, mask, totals
      integer(c_int), value :: element
      integer(c_int64_t), value :: fields, n
      integer(c_int) :: status
    end function
    function c_min(handle, element, x, n, mask, extremum) bind(c, name="warpfold_min") &
        result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle, x, mask, extremum
      integer(c_int), value :: element
      integer(c_int64_t), value :: n
      integer(c_int) :: status
    end function
    function c_max(handle, element, x, n, mask, extremum) bind(c, name="warpfold_max") &
        result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle, x, mask, extremum
      integer(c_int), value :: element
      integer(c_int64_t), value :: n
      integer(c_int) :: status
    end function
    function c_scan(handle, element, x, n, exclusive, prefixes) bind(c, name="warpfold_scan") &
        result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle, x, prefixes
      integer(c_int), value :: element, exclusive
      integer(c_int64_t), value :: n
      integer(c_int) :: status
    end function
    function c_refuse(handle, problem) bind(c, name="warpfold_refuse") result(status)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: problem(*)
      integer(c_int) :: status
    end function
    function c_length(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  ! `communicator`: of MPI's module `mpi`, or %MPI_VAL of one of `mpi_f08`.
  subroutine warpfold_create(communicator, collectives, ierror)
    integer, intent(in) :: communicator
    type(warpfold_collectives), intent(out) :: collectives
    integer, intent(out), optional :: ierror
    call settle(c_create(int(communicator, c_int), collectives%handle), ierror)
  end subroutine

  subroutine free_collectives(collectives, ierror)
    type(warpfold_collectives), intent(inout) :: collectives
    integer, intent(out), optional :: ierror
    call settle(c_free(collectives%handle), ierror)
  end subroutine

  subroutine warpfold_prepare(command, request, ierror)
    character(len=*), intent(in) :: command
    type(warpfold_request), intent(out) :: request
    integer, intent(out), optional :: ierror
    call settle(c_prepare(command // c_null_char, request%handle), ierror)
  end subroutine

  ! Without `text` for options without a value.
  subroutine warpfold_set(request, option, text, ierror)
    type(warpfold_request), intent(in) :: request
    character(len=*), intent(in) :: option
    character(len=*), intent(in), optional :: text
    integer, intent(out), optional :: ierror
    if (present(text)) then
      call settle(c_set(request%handle, option // c_null_char, text // c_null_char), ierror)
    else
      call settle(c_set(request%handle, option // c_null_char), ierror)
    end if
  end subroutine

  subroutine warpfold_run(request, communicator, file, dataset, ierror)
    type(warpfold_request), intent(in) :: request
    integer, intent(in) :: communicator
    character(len=*), intent(in) :: file, dataset
    integer, intent(out), optional :: ierror
    call settle(c_run(request%handle, int(communicator, c_int), trim(file) // c_null_char, &
      trim(dataset) // c_null_char), ierror)
  end subroutine

  subroutine get_real(request, name, value, ierror)
    type(warpfold_request), intent(in) :: request
    character(len=*), intent(in) :: name
    real(real64), intent(out) :: value
    integer, intent(out), optional :: ierror
    value = 0
    call settle(c_real(request%handle, name // c_null_char, value), ierror)
  end subroutine

  subroutine get_integer(request, name, value, ierror)
    type(warpfold_request), intent(in) :: request
    character(len=*), intent(in) :: name
    integer(int64), intent(out) :: value
    integer, intent(out), optional :: ierror
    value = 0
    call settle(c_integer(request%handle, name // c_null_char, value), ierror)
  end subroutine

  subroutine get_text(request, name, value, ierror)
    type(warpfold_request), intent(in) :: request
    character(len=*), intent(in) :: name
    character(len=:), allocatable, intent(out) :: value
    integer, intent(out), optional :: ierror
    type(c_ptr) :: text
    integer(c_int) :: status
    status = c_text(request%handle, name // c_null_char, text)
    value = ""
    if (status == warpfold_ok) value = letters_of(text)
    call settle(status, ierror)
  end subroutine

  subroutine free_request(request, ierror)
    type(warpfold_request), intent(inout) :: request
    integer, intent(out), optional :: ierror
    call settle(c_free_request(request%handle), ierror)
  end subroutine

  ! What went wrong in the last call that did.
  function warpfold_message() result(message)
    character(len=:), allocatable :: message
    message = letters_of(c_message())
  end function

  function letters_of(text) result(message)
    type(c_ptr), intent(in) :: text
    character(len=:), allocatable :: message
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(text, letters, [c_length(text)])
    allocate (character(len=size(letters)) :: message)
    do i = 1, size(letters)
      message(i:i) = letters(i)
    end do
  end function

  subroutine settle(status, ierror)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: ierror
    if (present(ierror)) then
      ierror = status
    else if (status /= warpfold_ok) then
      write (error_unit, "(a)") "warpfold: error: " // warpfold_message()
      error stop 1
    end if
  end subroutine

  ! The bytes that C takes for a mask; none, and null, where there is none.
  subroutine make_bytes(mask, bytes, address)
    logical, intent(in), contiguous, target, optional :: mask(..)
    logical(c_bool), allocatable, target, intent(out) :: bytes(:)
    type(c_ptr), intent(out) :: address
    logical, pointer :: flat(:)
    address = c_null_ptr
    if (.not. present(mask)) return
    call c_f_pointer(c_loc(mask), flat, [elements_of(shape(mask, c_int64_t))])
    allocate (bytes(max(1, size(flat))))
    bytes(1:size(flat)) = logical(flat, c_bool)
    address = c_loc(bytes)
  end subroutine

  ! How many elements an array of any rank has. Compilers' size() counts less than none where the
  ! array is an empty section.
  pure integer(c_int64_t) function elements_of(extents)
    integer(c_int64_t), intent(in) :: extents(:)
    elements_of = product(max(extents, 0_c_int64_t))
  end function

  ! How many elements each of the fields has that `elements` are in.
  integer(c_int64_t) function elements_of_each(elements, fields)
    integer(c_int64_t), intent(in) :: elements, fields
    elements_of_each = elements / max(fields, 1_c_int64_t)
  end function

  ! Whether arrays have the sizes that they need; where not, the error is settled on all ranks.
  logical function fit(collectives, elements, expected, mask_elements, fields, ierror)
    type(warpfold_collectives), intent(in) :: collectives
    integer(c_int64_t), intent(in) :: elements, expected, mask_elements, fields
    integer, intent(out), optional :: ierror
    character(len=:), allocatable :: problem
    if (elements /= expected) then
      problem = "two arrays of a call differ in size"
    else if (elements_of_each(elements, fields) * fields /= elements) then
      problem = "an array can't be divided into as many fields as there are results"
    else if (mask_elements /= elements_of_each(elements, fields)) then
      problem = "the mask is not as large as a field"
    end if
    fit = .not. allocated(problem)
    if (.not. fit) call settle(c_refuse(collectives%handle, problem // c_null_char), ierror)
  end function

#define ELEMENT real(real32)
#define RESULT real(real64)
#define PREFIX real(real32)
#define TYPE_CODE f32
#define SUM sum_f32
#define SUMS sums_f32
#define DOT dot_f32
#define DOTS dots_f32
#define MINIMUM min_f32
#define MAXIMUM max_f32
#define SCAN scan_f32
#include "kind.inc"

#define ELEMENT real(real64)
#define RESULT real(real64)
#define PREFIX real(real64)
#define TYPE_CODE f64
#define SUM sum_f64
#define SUMS sums_f64
#define DOT dot_f64
#define DOTS dots_f64
#define MINIMUM min_f64
#define MAXIMUM max_f64
#define SCAN scan_f64
#include "kind.inc"

#define ELEMENT integer(int32)
#define RESULT integer(int64)
#define PREFIX integer(int64)
#define TYPE_CODE i32
#define SUM sum_i32
#define SUMS sums_i32
#define DOT dot_i32
#define DOTS dots_i32
#define MINIMUM min_i32
#define MAXIMUM max_i32
#define SCAN scan_i32
#include "kind.inc"

#define ELEMENT integer(int64)
#define RESULT integer(int64)
#define PREFIX integer(int64)
#define TYPE_CODE i64
#define SUM sum_i64
#define SUMS sums_i64
#define DOT dot_i64
#define DOTS dots_i64
#define MINIMUM min_i64
#define MAXIMUM max_i64
#define SCAN scan_i64
#include "kind.inc"

end module
