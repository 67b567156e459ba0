#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda/primitives/bulk_copy.cuh"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/scan/scan_bulk_shape.cuh"
#include "cuda/scan/scan_lookback.cuh"

/// The one-pass scan of GPUs that copy in bulk. Each block is a pipeline of warps that hand tiles
/// over through mbarriers: a loader copies them into the stages of a ring in shared memory;
/// reducers combine each tile's segments; a publisher turns these into what precedes each segment
/// in its tile, and publishes the tile's aggregate; a lookback warp finds what precedes the tile;
/// scanners, one a segment, scan and copy out. Each lane arrives for its own reads and writes of
/// shared memory: an arrival orders no others', and shuffles order none.
namespace warpfold::cuda::kernels {

/// The body of the arrays, which begins where both are aligned to 16 bytes, and the `head` elements
/// before it.
template <class Op, class Part>
struct BulkScan {
  const typename Op::Input* input;
  typename Op::Output* output;
  std::uint64_t elements;
  std::uint32_t head;
  bool exclusive;
  typename Op::Value carry;
  AggregateRing<Part> aggregates;
};

template <class Op, class Tuning>
class BulkScanBlock {
  using Shape = BulkShape<Op, Tuning>;
  using Input = typename Shape::Input;
  using Output = typename Shape::Output;
  using Value = typename Shape::Value;
  using Part = typename Shape::Part;
  using Shared = typename Shape::Shared;
  using Stage = typename Shape::Stage;
  using Turn = TileTurn<Shape>;

  /// Combines parts of one tile.
  struct CombineParts {
    __device__ Part operator()(Part left, Part right) const {
      if constexpr (std::is_same_v<Part, Value>)
        return Op{}(left, right);
      else
        return left + right;
    }
  };

 public:
  __device__ BulkScanBlock(const BulkScan<Op, Part>& scan, Shared& shared)
      : scan_(scan), shared_(shared) {}

  __device__ void run() const {
    initialize();
    constexpr int loader = Shape::scanners + Shape::reducers;
    const int warp = warp::index();
    if (warp < Shape::scanners) {
      if (scan_.exclusive)
        scan_segments<true>(warp);
      else
        scan_segments<false>(warp);
    } else if (warp < loader) {
      reduce_segments(warp - Shape::scanners);
    } else if (warp == loader) {
      load_tiles();
    } else if (warp == loader + 1) {
      publish_aggregates();
    } else {
      lookback();
    }
  }

 private:
  __device__ void initialize() const {
    if (threadIdx.x == 0) {
      for (Stage& stage : shared_.stage) {
        stage.loaded.initialize(warp::lanes);
        stage.reduced.initialize(Shape::reducers * warp::lanes);
        stage.preceded.initialize(Shape::scanners + 1);
        stage.free.initialize(Shape::scanners * warp::lanes);
      }
      fence_mbarrier_initialization();
    }
    __syncthreads();
  }

  __device__ static Part identity() { return static_cast<Part>(Op::identity()); }

  __device__ void load_tiles() const {
    for (Turn turn(scan_.elements); turn.exists(); turn.advance()) {
      Stage& stage = shared_.stage[turn.stage()];
      Input* target = shared_.inputs[turn.stage()];
      const Input* source = scan_.input + turn.first_element();
      const std::uint32_t bytes =
          turn.elements() * static_cast<std::uint32_t>(sizeof(Input)) & ~std::uint32_t{15};
      if (turn.reuses_stage()) stage.free.wait(turn.parity() ^ 1);
      if (turn.elements() < Shape::tile_elements)
        load_rest(target, source, bytes / sizeof(Input), turn.elements());
      if (warp::lane() != 0) {
        stage.loaded.arrive();
      } else {
        stage.loaded.arrive_and_expect(bytes);
        if (bytes != 0) bulk_copy_to_shared(target, source, bytes, stage.loaded);
      }
      __syncwarp();
    }
  }

  /// The last tile's elements from `first` on, which are aligned but don't fill 16 bytes, and
  /// identities behind them.
  __device__ static void load_rest(Input* target, const Input* source, std::uint32_t first,
                                   std::uint32_t elements) {
    constexpr std::uint32_t vector = 16 / sizeof(Input);
    const auto lane = static_cast<std::uint32_t>(warp::lane());
    const auto padding = static_cast<Input>(Op::identity());
    if (elements != first && lane < vector)
      target[first + lane] = first + lane < elements ? source[first + lane] : padding;
    LaneElements<Input, vector> paddings;
#pragma unroll
    for (Input& element : paddings.element) element = padding;
    const std::uint32_t from = (elements + vector - 1) / vector;
    for (std::uint32_t i = from + lane; i < Shape::tile_elements / vector; i += warp::lanes)
      reinterpret_cast<LaneElements<Input, vector>*>(target)[i] = paddings;
  }

  __device__ void reduce_segments(int reducer) const {
    constexpr int share = Shape::scanners / Shape::reducers;
    for (Turn turn(scan_.elements); turn.exists(); turn.advance()) {
      Stage& stage = shared_.stage[turn.stage()];
      stage.loaded.wait(turn.parity());
#pragma unroll
      for (int i = 0; i < share; ++i) {
        const int segment = reducer * share + i;
        const Part aggregate = reduced(shared_.inputs[turn.stage()] +
                                       segment * static_cast<int>(Shape::segment_elements));
        if (warp::lane() == 0) stage.segments[segment] = aggregate;
      }
      stage.reduced.arrive();
    }
  }

  /// Returns a segment's elements combined in their order, in lane 0.
  __device__ static Part reduced(const Input* segment) {
    using Vector = LaneElements<Input, Shape::reduce_lane_elements>;
    Part total = identity();
#pragma unroll
    for (int row = 0; row < Shape::reduce_rows; ++row) {
      const Vector vector =
          reinterpret_cast<const Vector*>(segment)[row * warp::lanes + warp::lane()];
      auto value = static_cast<Part>(Op::load(vector.element[0]));
#pragma unroll
      for (int i = 1; i < Shape::reduce_lane_elements; ++i)
        value = CombineParts{}(value, static_cast<Part>(Op::load(vector.element[i])));
      value = warp::reduce(value, CombineParts{});
      total = row == 0 ? value : CombineParts{}(total, value);
    }
    return total;
  }

  __device__ void publish_aggregates() const {
    const int lane = warp::lane();
    for (Turn turn(scan_.elements); turn.exists(); turn.advance()) {
      const bool follows_head = turn.first_element() == 0 && scan_.head != 0;
      const Part head = follows_head ? scan_head() : identity();
      Stage& stage = shared_.stage[turn.stage()];
      stage.reduced.wait(turn.parity());
      const Part aggregate = lane < Shape::scanners ? stage.segments[lane] : identity();
      const Part through = CombineParts{}(head, warp::inclusive_scan(aggregate, CombineParts{}));
      const Part before = warp::shuffle_up(through, 1);
      if (lane == Shape::scanners - 1) scan_.aggregates.publish(turn.round(), blockIdx.x, through);
      if (lane < Shape::scanners) {
        stage.segments[lane] = lane == 0 ? head : before;
        stage.preceded.arrive();
      }
      __syncwarp();
    }
  }

  /// Writes the prefixes of the head; its elements combined, in all lanes.
  __device__ Part scan_head() const {
    const auto lane = static_cast<std::uint32_t>(warp::lane());
    const bool inside = lane < scan_.head;
    const auto value =
        static_cast<Part>(inside ? Op::load((scan_.input - scan_.head)[lane]) : Op::identity());
    const Part through = warp::inclusive_scan(value, CombineParts{});
    const Part before = warp::shuffle_up(through, 1);
    Value prefix = scan_.carry;
    if (!scan_.exclusive || lane != 0)
      prefix = Op{}(prefix, static_cast<Value>(scan_.exclusive ? before : through));
    if (inside) (scan_.output - scan_.head)[lane] = Op::store(prefix);
    return warp::shuffle(through, warp::lanes - 1);
  }

  __device__ void lookback() const {
    for (Turn turn(scan_.elements); turn.exists(); turn.advance()) {
      const Value since =
          scan_.aggregates.combine_since_last_round(turn.round(), blockIdx.x, Op::identity(), Op{});
      if (warp::lane() == 0) {
        Stage& stage = shared_.stage[turn.stage()];
        if (turn.reuses_stage()) stage.free.wait(turn.parity() ^ 1);
        stage.since = since;
        stage.preceded.arrive();
      }
      __syncwarp();
    }
  }

  template <bool exclusive>
  __device__ void scan_segments(int segment) const {
    const int offset = segment * static_cast<int>(Shape::segment_elements);
    Value before_tile = scan_.carry;
    [[maybe_unused]] int buffer = 0;
    for (Turn turn(scan_.elements); turn.exists(); turn.advance()) {
      Stage& stage = shared_.stage[turn.stage()];
      stage.loaded.wait(turn.parity());
      stage.preceded.wait(turn.parity());
      before_tile = Op{}(before_tile, stage.since);
      const Value before = Op{}(before_tile, static_cast<Value>(stage.segments[segment]));
      const Input* source = shared_.inputs[turn.stage()] + offset;
      if constexpr (Shape::in_place) {
        Output* target = reinterpret_cast<Output*>(shared_.inputs[turn.stage()]) + offset;
        scan_segment<exclusive>(source, target, before);
        store_segment(turn, offset, target);
        if (warp::lane() == 0) wait_for_bulk_reads<0>();
        stage.free.arrive();
      } else {
        Output* target = shared_.outputs[segment * Shape::buffers + buffer];
        buffer = buffer + 1 == Shape::buffers ? 0 : buffer + 1;
        if (warp::lane() == 0) wait_for_bulk_reads<Shape::buffers - 1>();
        __syncwarp();
        scan_segment<exclusive>(source, target, before);
        stage.free.arrive();
        store_segment(turn, offset, target);
      }
      __syncwarp();
    }
    if (warp::lane() == 0) wait_for_bulk_reads<0>();
  }

  template <bool exclusive>
  __device__ static void scan_segment(const Input* source, Output* target, Value before) {
    using Inputs = LaneElements<Input, Shape::lane_elements>;
    using Outputs = LaneElements<Output, Shape::lane_elements>;
    const auto* inputs = reinterpret_cast<const Inputs*>(source) + warp::lane();
    auto* outputs = reinterpret_cast<Outputs*>(target) + warp::lane();
#pragma unroll
    for (int first = 0; first < Shape::rows; first += Shape::batch_rows) {
      Inputs batch[Shape::batch_rows];
#pragma unroll
      for (int row = 0; row < Shape::batch_rows; ++row)
        batch[row] = inputs[(first + row) * warp::lanes];
#pragma unroll
      for (int row = 0; row < Shape::batch_rows; ++row)
        outputs[(first + row) * warp::lanes] = scan_row<exclusive>(batch[row], before);
    }
  }

  /// Returns the row's prefixes; `before` becomes what precedes the next row.
  template <bool exclusive, int count>
  __device__ static LaneElements<Output, count> scan_row(const LaneElements<Input, count>& row,
                                                         Value& before) {
    Part through[count];
    through[0] = static_cast<Part>(Op::load(row.element[0]));
#pragma unroll
    for (int i = 1; i < count; ++i)
      through[i] = CombineParts{}(through[i - 1], static_cast<Part>(Op::load(row.element[i])));
    const Part lanes_through = warp::inclusive_scan(through[count - 1], CombineParts{});
    const Part lanes_before = warp::shuffle_up(lanes_through, 1);
    const Value start = warp::lane() == 0 ? before : Op{}(before, static_cast<Value>(lanes_before));
    LaneElements<Output, count> prefixes;
    if constexpr (exclusive) prefixes.element[0] = Op::store(start);
#pragma unroll
    for (int i = exclusive; i < count; ++i)
      prefixes.element[i] =
          Op::store(Op{}(start, static_cast<Value>(through[exclusive ? i - 1 : i])));
    before = Op{}(before, static_cast<Value>(warp::shuffle(lanes_through, warp::lanes - 1)));
    return prefixes;
  }

  /// Starts a copy, as a group of its own, of the segment's prefixes that the array has.
  __device__ void store_segment(const Turn& turn, int offset, const Output* prefixes) const {
    fence_shared_writes();
    __syncwarp();
    const int rest_of_tile = static_cast<int>(turn.elements()) - offset;
    constexpr int maximum = Shape::segment_elements;
    const int elements = rest_of_tile < maximum ? rest_of_tile : maximum;
    Output* target = scan_.output + turn.first_element() + offset;
    constexpr int vector = 16 / sizeof(Output);
    const int aligned = elements > 0 ? elements / vector * vector : 0;
    if (aligned + warp::lane() < elements)
      target[aligned + warp::lane()] = prefixes[aligned + warp::lane()];
    if (warp::lane() == 0) {
      if (aligned != 0)
        bulk_copy_to_global(target, prefixes, static_cast<std::uint32_t>(aligned) * sizeof(Output));
      commit_bulk_copies();
    }
  }

  const BulkScan<Op, Part>& scan_;
  Shared& shared_;
};

template <class Op, class Tuning>
__global__ void __launch_bounds__(BulkShape<Op, Tuning>::threads, 1) scan_bulk_kernel(
    const __grid_constant__ BulkScan<Op, typename BulkShape<Op, Tuning>::Part> scan) {
  // GPUs that can't copy in bulk never run it.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  BulkScanBlock<Op, Tuning>(scan, *dynamic_shared<typename BulkShape<Op, Tuning>::Shared>()).run();
#endif
}

}  // namespace warpfold::cuda::kernels
