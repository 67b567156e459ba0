#include "mpi/root_exchange.hpp"

#include <utility>

namespace warpfold::mpi {
namespace {

MPI_Request begin_sending(const RootExchange::Numbers& numbers, int to, int tag,
                          const Communicator& communicator) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(numbers.data(), static_cast<int>(numbers.size()), MPI_UINT64_T, to, tag,
                  communicator.get(), &request),
        "MPI_Isend");
  return request;
}

MPI_Request begin_receiving(RootExchange::Numbers& numbers, int from, int tag,
                            const Communicator& communicator) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Irecv(numbers.data(), static_cast<int>(numbers.size()), MPI_UINT64_T, from, tag,
                  communicator.get(), &request),
        "MPI_Irecv");
  return request;
}

}  // namespace

RootExchange::RootExchange(const Communicator& communicator)
    : communicator_(communicator),
      of_ranks_(communicator.is_root() ? static_cast<std::size_t>(communicator.size()) : 1) {}

RootExchange::~RootExchange() {
  if (!requests_.empty())
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

void RootExchange::start(Numbers mine, const std::vector<std::size_t>& counts) {
  under_way_ = true;
  is_answered_ = !communicator_.is_root();
  if (communicator_.is_root()) {
    for (int rank = 1; rank < communicator_.size(); ++rank) {
      Numbers& theirs = of_ranks_[static_cast<std::size_t>(rank)];
      theirs.resize(counts[static_cast<std::size_t>(rank)]);
      requests_.push_back(begin_receiving(theirs, rank, tag::question, communicator_));
    }
    of_ranks_[own_] = std::move(mine);
  } else {
    sent_ = std::move(mine);
    of_ranks_[own_].resize(sent_.size());
    requests_.push_back(begin_sending(sent_, 0, tag::question, communicator_));
    requests_.push_back(begin_receiving(of_ranks_[own_], 0, tag::answer, communicator_));
  }
}

bool RootExchange::done(const Answer& answer) {
  if (!messages_arrived()) return false;
  if (!is_answered_) {
    answer(of_ranks_);
    is_answered_ = true;
    begin_to_send();
    if (!messages_arrived()) return false;
  }
  under_way_ = false;
  return true;
}

bool RootExchange::messages_arrived() {
  if (requests_.empty()) return true;
  int complete = 0;
  check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &complete,
                    MPI_STATUSES_IGNORE),
        "MPI_Testall");
  if (complete != 0) requests_.clear();
  return complete != 0;
}

void RootExchange::begin_to_send() {
  for (int rank = 1; rank < communicator_.size(); ++rank)
    requests_.push_back(
        begin_sending(of_ranks_[static_cast<std::size_t>(rank)], rank, tag::answer, communicator_));
}

}  // namespace warpfold::mpi
