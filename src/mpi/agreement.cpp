#include "mpi/agreement.hpp"

#include <new>
#include <string>

#include "warpfold/core/error.hpp"

namespace warpfold::mpi {
namespace {

/// Makes any exception one of the type that ranks exchange.
Error as_error(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error("out of host memory", "", "Use fewer ranks per host or a smaller `slab_bytes`.");
  } catch (const std::exception& exception) {
    return Error("unexpected failure", exception.what(), "");
  } catch (...) {
    return Error("unexpected failure", "the exception is not a std::exception", "");
  }
}

}  // namespace

void throw_on_all_ranks(const std::exception_ptr& failure, const Communicator& communicator) {
  if (!failure && communicator.is_alone()) return;
  const auto none = static_cast<std::uint64_t>(communicator.size());
  const auto rank = static_cast<std::uint64_t>(communicator.rank());
  const std::uint64_t lowest = minimum({failure ? rank : none}, communicator).front();
  if (lowest == none) return;
  const Error error = lowest == rank ? as_error(failure) : Error("", "", "");
  const auto from = static_cast<int>(lowest);
  std::string problem = broadcast(error.problem(), communicator, from);
  std::string why = broadcast(error.why(), communicator, from);
  std::string suggestion = broadcast(error.suggestion(), communicator, from);
  const auto code = static_cast<std::uint64_t>(error.exit_code());
  throw Error(std::move(problem), std::move(why), std::move(suggestion),
              static_cast<ExitCode>(broadcast(code, communicator, from)));
}

FailureWatch::~FailureWatch() {
  if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

bool FailureWatch::previous_round_failed() {
  if (communicator_.is_alone()) return mine_ != 0;
  if (request_ == MPI_REQUEST_NULL) return false;
  check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
  return any_ != 0;
}

bool FailureWatch::round(bool failed) {
  if (previous_round_failed()) return true;
  mine_ = failed ? 1 : 0;
  if (communicator_.is_alone()) return false;
  check(MPI_Iallreduce(&mine_, &any_, 1, MPI_INT, MPI_MAX, communicator_.get(), &request_),
        "MPI_Iallreduce");
  return false;
}

WorkWatch::~WorkWatch() {
  if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

std::optional<WorkProgress> WorkWatch::exchange(WorkProgress mine) {
  if (communicator_.is_alone()) return mine;
  if (request_ == MPI_REQUEST_NULL) {
    mine_ = {mine.state == WorkState::failed ? 1U : 0U, mine.state == WorkState::working ? 1U : 0U,
             mine.done};
    check(MPI_Iallreduce(mine_.data(), whole_.data(), static_cast<int>(mine_.size()), MPI_UINT64_T,
                         MPI_SUM, communicator_.get(), &request_),
          "MPI_Iallreduce");
  }
  int ended = 0;
  check(MPI_Test(&request_, &ended, MPI_STATUS_IGNORE), "MPI_Test");
  if (ended == 0) return std::nullopt;
  const auto [failed, working, done] = whole_;
  return WorkProgress{failed > 0    ? WorkState::failed
                      : working > 0 ? WorkState::working
                                    : WorkState::done,
                      done};
}

}  // namespace warpfold::mpi
