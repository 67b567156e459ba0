#include "mpi/combine.hpp"

#include <memory>
#include <type_traits>

#include "mpi/doubling_scan.hpp"

namespace warpfold::mpi {
namespace {

Accumulator normalized(Accumulator contents) {
  contents.normalize();
  return contents;
}

static_assert(std::is_trivially_copyable_v<Contribution>);
// Documents and models of costs state these sizes.
static_assert(sizeof(Accumulator) == 2264);
static_assert(sizeof(Contribution) == 2272);

void merge(void* incoming, void* merged, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const Contribution*>(incoming);
  auto* into = static_cast<Contribution*>(merged);
  for (int i = 0; i < *count; ++i) {
    into[i].contents.merge(from[i].contents);
    into[i].missing += from[i].missing;
  }
}

/// A number that is summed.
struct Count {
  std::uint64_t value;

  static Count empty() { return {0}; }
  void merge(const Count& other) { value += other.value; }
};

template <class Value>
Value scan_by_doubling(const Value& mine, const Communicator& communicator) {
  DoublingScan<Value> scan(communicator);
  scan.start(mine);
  scan.wait();
  return scan.lower();
}

int delete_merge(MPI_Comm, int, void* attribute, void*) {
  const std::unique_ptr<ContributionMerge> owner(static_cast<ContributionMerge*>(attribute));
  return MPI_SUCCESS;
}

int make_key() {
  int key = MPI_KEYVAL_INVALID;
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &delete_merge, &key, nullptr),
        "MPI_Comm_create_keyval");
  return key;
}

}  // namespace

ContributionMerge::ContributionMerge() {
  constexpr int words = sizeof(Contribution) / sizeof(std::uint64_t);
  constexpr int commutes = 1;
  check(MPI_Type_contiguous(words, MPI_UINT64_T, &type_), "MPI_Type_contiguous");
  check(MPI_Type_commit(&type_), "MPI_Type_commit");
  check(MPI_Op_create(&merge, commutes, &operation_), "MPI_Op_create");
}

ContributionMerge::~ContributionMerge() {
  MPI_Op_free(&operation_);
  MPI_Type_free(&type_);
}

const ContributionMerge& contribution_merge() {
  static const int key = make_key();
  ContributionMerge* known = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(MPI_COMM_SELF, key, static_cast<void*>(&known), &found),
        "MPI_Comm_get_attr");
  if (found != 0) return *known;
  auto made = std::make_unique<ContributionMerge>();
  check(MPI_Comm_set_attr(MPI_COMM_SELF, key, made.get()), "MPI_Comm_set_attr");
  return *made.release();
}

Accumulator reduce(const Accumulator& mine, const Communicator& communicator) {
  if (communicator.is_alone()) return mine;
  const ContributionMerge& merge = contribution_merge();
  const Contribution from{mine, 0};
  Contribution whole = from;
  check(MPI_Reduce(&from, &whole, 1, merge.type(), merge.operation(), 0, communicator.get()),
        "MPI_Reduce");
  return normalized(whole.contents);
}

std::vector<std::uint64_t> sum(std::vector<std::uint64_t> counts,
                               const Communicator& communicator) {
  if (communicator.is_alone()) return counts;
  std::vector<std::uint64_t> whole(counts.size());
  check(MPI_Reduce(counts.data(), whole.data(), static_cast<int>(counts.size()), MPI_UINT64_T,
                   MPI_SUM, 0, communicator.get()),
        "MPI_Reduce");
  return whole;
}

std::optional<Accumulator> reduce_everywhere(const std::optional<Accumulator>& mine,
                                             const Communicator& communicator) {
  if (communicator.is_alone()) return mine;
  const ContributionMerge& merge = contribution_merge();
  Contribution whole{mine.value_or(Accumulator::empty()), mine ? 0 : 1};
  check(MPI_Allreduce(MPI_IN_PLACE, &whole, 1, merge.type(), merge.operation(), communicator.get()),
        "MPI_Allreduce");
  if (whole.missing != 0) return std::nullopt;
  return normalized(whole.contents);
}

std::uint64_t exclusive_sum(std::uint64_t value, const Communicator& communicator) {
  if (communicator.is_alone()) return 0;
  if (communicator.scan_way() == ScanWay::doubling)
    return scan_by_doubling(Count{value}, communicator).value;
  std::uint64_t sum = 0;
  check(MPI_Exscan(&value, &sum, 1, MPI_UINT64_T, MPI_SUM, communicator.get()), "MPI_Exscan");
  // MPI leaves rank 0's buffer undefined.
  return communicator.is_root() ? 0 : sum;
}

Accumulator exclusive_scan(const Accumulator& mine, const Communicator& communicator, ScanWay way) {
  if (communicator.is_alone()) return Accumulator::empty();
  if (way == ScanWay::doubling) return normalized(scan_by_doubling(mine, communicator));
  const ContributionMerge& merge = contribution_merge();
  const Contribution from{mine, 0};
  Contribution before{Accumulator::empty(), 0};
  check(MPI_Exscan(&from, &before, 1, merge.type(), merge.operation(), communicator.get()),
        "MPI_Exscan");
  // MPI leaves rank 0's buffer undefined.
  return communicator.is_root() ? Accumulator::empty() : normalized(before.contents);
}

}  // namespace warpfold::mpi
