#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/scan/scan_lookback.cuh"
#include "cuda/scan/scan_operator.cuh"

namespace warpfold::cuda::kernels {

/// In what a tile's own prefixes are computed, as what they wait in shared memory, and as what its
/// aggregate is published.
template <class Operator>
struct LocalScan {
  using Type = Operator;
  using Waiting = typename Operator::Output;
  using Aggregate = typename Operator::Value;

  __device__ static typename Operator::Value widened(Waiting prefix) {
    return static_cast<typename Operator::Value>(prefix);
  }
};

/// 32 bits hold a tile's sums of 8- and 16-bit elements: 2^15 of them at most.
template <class In, class Out>
requires(sizeof(In) <= 2 && sizeof(Out) == 8) struct LocalScan<SumOperator<In, Out>> {
  using Waiting = std::conditional_t<std::is_signed_v<In>, std::int32_t, std::uint32_t>;
  using Aggregate = Waiting;
  using Type = SumOperator<In, std::uint32_t>;

  __device__ static Out widened(Waiting prefix) { return static_cast<Out>(prefix); }
};

/// A thread block's warps each scan a segment of a tile, but for the last, which looks back. A
/// segment's rows are what the warp reads at once: as many elements a lane as make 16 bytes of
/// output. One block a multiprocessor, with the largest tiles that it holds: fewer aggregates to
/// read, and more time for it.
template <class Operator, int Rows, int MaxWarps>
struct ScanRegistersShape {
  using Local = LocalScan<Operator>;
  using Output = typename Operator::Output;

  static constexpr int lane_elements = static_cast<int>(16 / sizeof(Output));
  static constexpr int rows = Rows;
  static constexpr int max_warps = MaxWarps;  ///< that scan
  static constexpr int max_threads = (MaxWarps + 1) * warp::lanes;
  static constexpr int segment_elements = Rows * warp::lanes * lane_elements;

  /// Steps that a tile's prefixes wait in shared memory for what precedes them. Of one step,
  /// the lookback would need all.
  static constexpr int lag = 2;
  static constexpr int slots = lag + 1;
  static constexpr std::size_t segment_slot_bytes =
      segment_elements * sizeof(typename Local::Waiting);

  static_assert(sizeof(typename Local::Waiting) == sizeof(Output) ||
                MaxWarps * segment_elements <= 1 << 15);

  static constexpr std::size_t shared_bytes(int warps) {
    return slots * segment_slot_bytes * static_cast<std::size_t>(warps);
  }
};

/// An array that begins at a tile boundary; its elements before `first` and from `end` on don't
/// exist.
template <class Operator>
struct RegisterScan {
  using Input = typename Operator::Input;
  using Output = typename Operator::Output;

  const Input* input;
  Output* output;  ///< aligned to 16 bytes
  std::uint64_t first;
  std::uint64_t end;
  std::uint64_t tiles;
  bool input_aligned;  ///< to a lane's elements
  bool exclusive;
  typename Operator::Value carry;
  AggregateRing<typename LocalScan<Operator>::Aggregate> ring;
};

/// A lane of a warp that scans.
template <class Operator, class Shape>
class RegisterScanner {
 public:
  using Value = typename Operator::Value;

  __device__ RegisterScanner(const RegisterScan<Operator>& scan, std::byte* slots)
      : scan_(scan),
        warps_(blockDim.x / warp::lanes - 1),
        tile_elements_(warps_ * Shape::segment_elements),
        place_(static_cast<std::uint32_t>(warp::index() * Shape::segment_elements +
                                          warp::lane() * count)),
        slots_(slots) {}

  __device__ void load(std::uint64_t tile) {
    const std::uint64_t place = first_place(tile);
    if (scan_.input_aligned && is_whole(tile)) {
#pragma unroll
      for (int row = 0; row < Shape::rows; ++row)
        next_[row] = load_vector<Input, count>(scan_.input + row_place(place, row));
    } else {
#pragma unroll
      for (int row = 0; row < Shape::rows; ++row) next_[row] = load_lane(row_place(place, row));
    }
  }

  /// Leaves what load() read as prefixes within the segment in the slot; returns the segment's
  /// total.
  __device__ Value scan_segment(std::uint32_t slot) const {
    LocalValue carry = LocalOperator::identity();
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      const auto elements = std::bit_cast<LaneElements<Input, count>>(next_[row]);
      LocalValue value[count];
      value[0] = LocalOperator::load(elements.element[0]);
#pragma unroll
      for (int k = 1; k < count; ++k)
        value[k] = LocalOperator{}(value[k - 1], LocalOperator::load(elements.element[k]));
      const LocalValue lanes = warp::inclusive_scan(value[count - 1], LocalOperator{});
      const LocalValue lanes_below = warp::shuffle_up(lanes, 1);
      const LocalValue left = warp::lane() == 0 ? carry : LocalOperator{}(carry, lanes_below);
      LaneElements<Waiting, count> prefix;
      prefix.element[0] =
          static_cast<Waiting>(scan_.exclusive ? left : LocalOperator{}(left, value[0]));
#pragma unroll
      for (int k = 1; k < count; ++k)
        prefix.element[k] =
            static_cast<Waiting>(LocalOperator{}(left, scan_.exclusive ? value[k - 1] : value[k]));
      waiting(slot, row) = packed(prefix);
      carry = LocalOperator{}(carry, warp::shuffle(lanes, warp::lanes - 1));
    }
    return Local::widened(static_cast<Waiting>(carry));
  }

  /// Writes the slot's prefixes, `base` before each.
  __device__ void write(std::uint64_t tile, std::uint32_t slot, Value base) const {
    const std::uint64_t place = first_place(tile);
    const bool whole = is_whole(tile);
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      const auto local = std::bit_cast<LaneElements<Waiting, count>>(waiting(slot, row));
      LaneElements<Output, count> prefix;
#pragma unroll
      for (int k = 0; k < count; ++k)
        prefix.element[k] = Operator::store(Operator{}(base, Local::widened(local.element[k])));
      if (whole)
        store_vector(scan_.output + row_place(place, row), prefix);
      else
        store_lane(row_place(place, row), prefix);
    }
  }

 private:
  using Input = typename Operator::Input;
  using Output = typename Operator::Output;
  using Local = typename Shape::Local;
  using LocalOperator = typename Local::Type;
  using LocalValue = typename LocalOperator::Value;
  using Waiting = typename Local::Waiting;
  static constexpr int count = Shape::lane_elements;

  __device__ std::uint64_t first_place(std::uint64_t tile) const {
    return tile * tile_elements_ + place_;
  }
  __device__ static std::uint64_t row_place(std::uint64_t place, int row) {
    return place + static_cast<std::uint64_t>(row * warp::lanes * count);
  }
  __device__ bool is_whole(std::uint64_t tile) const {
    return tile * tile_elements_ >= scan_.first && (tile + 1) * tile_elements_ <= scan_.end;
  }
  __device__ bool exists(std::uint64_t place) const {
    return place >= scan_.first && place < scan_.end;
  }
  /// Returns whether the lane's elements exist, and as many more on either side.
  __device__ bool all_exist(std::uint64_t place, int margin) const {
    return place >= scan_.first + static_cast<unsigned>(margin) &&
           place + static_cast<unsigned>(count + margin) <= scan_.end;
  }

  __device__ Packed<Input, count> load_lane(std::uint64_t place) const {
    const Input* elements = scan_.input + place;
    if (scan_.input_aligned && all_exist(place, 0)) return load_vector<Input, count>(elements);
    if (all_exist(place, shift_margin<Input>)) return load_shifted<Input, count>(elements);
    return load_existing<Input, count>(
        elements, static_cast<Input>(Operator::identity()),
        [this, place](int k) { return exists(place + static_cast<unsigned>(k)); });
  }

  __device__ void store_lane(std::uint64_t place, const LaneElements<Output, count>& prefix) const {
    if (all_exist(place, 0)) return store_vector(scan_.output + place, prefix);
#pragma unroll
    for (int k = 0; k < count; ++k)
      if (exists(place + k)) scan_.output[place + k] = prefix.element[k];
  }

  __device__ Packed<Waiting, count>& waiting(std::uint32_t slot, int row) const {
    std::byte* const segment =
        slots_ + (slot * warps_ + static_cast<std::uint32_t>(warp::index())) *
                     static_cast<std::uint32_t>(Shape::segment_slot_bytes);
    return reinterpret_cast<Packed<Waiting, count>*>(segment)[row * warp::lanes + warp::lane()];
  }

  const RegisterScan<Operator>& scan_;
  std::uint32_t warps_;
  std::uint32_t tile_elements_;
  std::uint32_t place_;  ///< in its tile, of the lane's first element
  std::byte* slots_;
  Packed<Input, count> next_[Shape::rows];
};

/// The warp that publishes the block's aggregates and looks back for what precedes its tiles.
template <class Operator, class Shape>
class RegisterPrefix {
 public:
  using Value = typename Operator::Value;

  __device__ explicit RegisterPrefix(const RegisterScan<Operator>& scan)
      : ring_(scan.ring), before_(scan.carry) {}

  __device__ void publish(std::uint32_t round, const Value* segment_totals) {
    const int warps = static_cast<int>(blockDim.x) / warp::lanes - 1;
    const int lane = warp::lane();
    const Value total = lane < warps ? segment_totals[lane] : Operator::identity();
    const Value through = warp::inclusive_scan(total, Operator{});
    if (lane == warps - 1)
      ring_.publish(round, blockIdx.x, static_cast<typename Shape::Local::Aggregate>(through));
    const Value below = warp::shuffle_up(through, 1);
    segments_below_[Shape::lag - 1] = lane == 0 ? Operator::identity() : below;
  }

  /// Finds what precedes each segment of the round's tile.
  __device__ void resolve(std::uint32_t round, Value* segment_bases) {
    const Value since =
        ring_.combine_since_last_round(round, blockIdx.x, Operator::identity(), Operator{});
    before_ = Operator{}(before_, warp::shuffle(since, 0));
    if (warp::lane() < static_cast<int>(blockDim.x) / warp::lanes - 1)
      segment_bases[warp::lane()] = Operator{}(before_, segments_below_[0]);
  }

  /// Ends a step: the next tile to be resolved is a later one.
  __device__ void advance() {
#pragma unroll
    for (int i = 0; i + 1 < Shape::lag; ++i) segments_below_[i] = segments_below_[i + 1];
  }

 private:
  AggregateRing<typename Shape::Local::Aggregate> ring_;
  Value before_;
  Value segments_below_[Shape::lag];  ///< for the tiles published and not yet resolved
};

/// In step s a block scans its tile s within itself, has its aggregate published, and writes tile
/// s - lag: one barrier a step, between which the last warp looks back for tile s - lag + 1.
template <class Operator, class Shape>
__global__ void __launch_bounds__(Shape::max_threads, 1)
    scan_registers_kernel(const RegisterScan<Operator> scan) {
  using Value = typename Operator::Value;
  constexpr std::uint32_t lag = Shape::lag;
  __shared__ Value segment_totals[2][Shape::max_warps];
  __shared__ Value segment_bases[2][Shape::max_warps];
  const int warp = warp::index();
  const bool looks_back = warp == static_cast<int>(blockDim.x) / warp::lanes - 1;
  const auto rounds =
      static_cast<std::uint32_t>((scan.tiles - blockIdx.x + gridDim.x - 1) / gridDim.x);
  const auto tile_of = [](std::uint32_t round) {
    return std::uint64_t{round} * gridDim.x + blockIdx.x;
  };
  RegisterScanner<Operator, Shape> segment(scan, dynamic_shared<std::byte>());
  RegisterPrefix<Operator, Shape> prefix(scan);
  if (!looks_back) segment.load(tile_of(0));
#pragma unroll 1
  for (std::uint32_t step = 0; step < rounds + lag; ++step) {
    if (!looks_back && step < rounds) {
      const Value total = segment.scan_segment(step % Shape::slots);
      if (warp::lane() == 0) segment_totals[step % 2][warp] = total;
      if (step + 1 < rounds) segment.load(tile_of(step + 1));
    }
    __syncthreads();
    if (looks_back) {
      if (step < rounds) prefix.publish(step, segment_totals[step % 2]);
      const std::uint32_t round = step + 1 - lag;
      if (round < rounds) prefix.resolve(round, segment_bases[round % 2]);
      prefix.advance();
    } else if (step >= lag) {
      const std::uint32_t round = step - lag;
      segment.write(tile_of(round), round % Shape::slots, segment_bases[round % 2][warp]);
    }
  }
}

}  // namespace warpfold::cuda::kernels
