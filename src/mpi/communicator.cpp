#include "mpi/communicator.hpp"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <utility>

#include "mpi/environment.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::mpi {
namespace {

MPI_Comm duplicate(MPI_Comm parent) {
  if (parent == MPI_COMM_SELF) return parent;
  if (!is_running())
    throw usage_error("MPI isn't running", "it was not started, or has ended",
                      "Call between MPI_Init and MPI_Finalize, or with MPI_COMM_SELF.");
  MPI_Comm copy = MPI_COMM_NULL;
  check(MPI_Comm_dup(parent, &copy), "MPI_Comm_dup");
  return copy;
}

/// Warns, once, that MPI has ended before what uses it.
void warn_of_end(bool is_root) {
  static std::once_flag warned;
  if (is_root)
    std::call_once(warned, [] {
      std::fputs(
          "warpfold: warning: an object was destroyed after MPI_Finalize. Destroy it before.\n",
          stderr);
    });
}

/// Combines the ranks' values, element by element, on every rank.
template <class T>
std::vector<T> combined(std::vector<T> values, MPI_Datatype type, MPI_Op operation,
                        const Communicator& communicator) {
  if (communicator.is_alone()) return values;
  check(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), type, operation,
                      communicator.get()),
        "MPI_Allreduce");
  return values;
}

}  // namespace

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(std::string(call) + " failed", std::string(text.data(), static_cast<size_t>(length)),
              "Check the MPI installation and the hosts of the job.");
}

Communicator::Communicator(MPI_Comm parent) : Communicator(duplicate(parent), Adopt{}) {}

Communicator::Communicator(MPI_Comm owned, Adopt) : communicator_(owned) {
  if (is_alone()) return;
  check(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
}

Communicator::Communicator(Communicator&& other) noexcept
    : communicator_(std::exchange(other.communicator_, MPI_COMM_NULL)),
      rank_(other.rank_),
      size_(other.size_),
      scan_way_(other.scan_way_) {}

Communicator::~Communicator() {
  if (communicator_ == MPI_COMM_NULL || is_alone()) return;
  if (is_running())
    MPI_Comm_free(&communicator_);
  else
    warn_of_end(is_root());
}

Communicator Communicator::on_this_host() const {
  if (is_alone()) return Communicator(communicator_);
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split_type(communicator_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host),
        "MPI_Comm_split_type");
  return {host, Adopt{}};
}

ScanWay Communicator::scan_way() const {
  if (!scan_way_)
    scan_way_ = size_ < ranks_of_doubling(*this) ? ScanWay::exscan : ScanWay::doubling;
  return *scan_way_;
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

void barrier(const Communicator& communicator) {
  if (!communicator.is_alone()) check(MPI_Barrier(communicator.get()), "MPI_Barrier");
}

int count_hosts(const Communicator& communicator) {
  if (communicator.is_alone()) return 1;
  const int leads_its_host = communicator.on_this_host().is_root() ? 1 : 0;
  int hosts = 0;
  check(MPI_Allreduce(&leads_its_host, &hosts, 1, MPI_INT, MPI_SUM, communicator.get()),
        "MPI_Allreduce");
  return hosts;
}

std::string broadcast(std::string text, const Communicator& communicator, int from) {
  if (communicator.is_alone()) return text;
  text.resize(broadcast(text.size(), communicator, from));
  check(MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, from, communicator.get()),
        "MPI_Bcast");
  return text;
}

std::uint64_t broadcast(std::uint64_t value, const Communicator& communicator, int from) {
  if (communicator.is_alone()) return value;
  check(MPI_Bcast(&value, 1, MPI_UINT64_T, from, communicator.get()), "MPI_Bcast");
  return value;
}

std::vector<std::string> gather_everywhere(const std::string& text,
                                           const Communicator& communicator) {
  if (communicator.is_alone()) return {text};
  const auto ranks = static_cast<std::size_t>(communicator.size());
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(ranks);
  check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, communicator.get()),
        "MPI_Allgather");
  std::vector<int> offsets(ranks + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  std::string all(static_cast<std::size_t>(offsets.back()), '\0');
  check(MPI_Allgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(),
                       MPI_CHAR, communicator.get()),
        "MPI_Allgatherv");
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[rank]),
                               static_cast<std::size_t>(lengths[rank])));
  return texts;
}

std::vector<std::uint64_t> minimum(std::vector<std::uint64_t> values,
                                   const Communicator& communicator) {
  return combined(std::move(values), MPI_UINT64_T, MPI_MIN, communicator);
}

std::vector<double> maximum(std::vector<double> values, const Communicator& communicator) {
  return combined(std::move(values), MPI_DOUBLE, MPI_MAX, communicator);
}

std::vector<std::uint64_t> bitwise_or(std::vector<std::uint64_t> values,
                                      const Communicator& communicator) {
  return combined(std::move(values), MPI_UINT64_T, MPI_BOR, communicator);
}

std::vector<double> sum(std::vector<double> values, const Communicator& communicator) {
  return combined(std::move(values), MPI_DOUBLE, MPI_SUM, communicator);
}

std::vector<std::int64_t> sum_everywhere(std::vector<std::int64_t> words,
                                         const Communicator& communicator) {
  return combined(std::move(words), MPI_INT64_T, MPI_SUM, communicator);
}

}  // namespace warpfold::mpi
