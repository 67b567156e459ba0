#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/primitives/bulk_copy.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/scan/scan_lookback.cuh"

namespace warpfold::cuda::kernels {

/// How a thread block of the bulk scan is divided for an operator. A tile takes a stage of the ring
/// in shared memory, and each scanner has a segment of it.
template <class Op, class Tuning>
struct BulkShape {
  using Input = typename Op::Input;
  using Output = typename Op::Output;
  using Value = typename Op::Value;

  /// In what a tile is combined: 32 bits where its sum fits.
  using Part =
      std::conditional_t<sizeof(Value) == 8 && sizeof(Input) <= 2,
                         std::conditional_t<std::is_signed_v<Input>, std::int32_t, std::uint32_t>,
                         Value>;

  static constexpr int stages = Tuning::stages;
  static constexpr int reducers = Tuning::reducers;
  static constexpr int scanners = Tuning::scanners;
  static constexpr int warps = 3 + reducers + scanners;
  static constexpr int threads = warps * warp::lanes;

  /// Scans in place where elements keep their size, else in buffers of each scanner's own.
  static constexpr bool in_place = sizeof(Input) == sizeof(Output);
  static constexpr int buffers = in_place ? 0 : Tuning::buffers;

  static constexpr std::uint32_t tile_elements = Tuning::tile_bytes / sizeof(Output);
  static constexpr std::uint32_t segment_elements = tile_elements / scanners;

  /// What a lane takes of a row that a warp scans at once: 16 bytes of output.
  static constexpr int lane_elements = 16 / sizeof(Output);
  static constexpr std::uint32_t row_elements = warp::lanes * lane_elements;
  static constexpr int rows = segment_elements / row_elements;
  static constexpr int batch_rows = rows % 4 == 0 ? 4 : rows % 3 == 0 ? 3 : rows % 2 == 0 ? 2 : 1;

  /// What a lane takes of a row that a warp reduces at once: up to 16 bytes of input.
  static constexpr int reduce_lane_bytes =
      segment_elements * sizeof(Input) >= 16 * warp::lanes
          ? 16
          : static_cast<int>(segment_elements * sizeof(Input) / warp::lanes);
  static constexpr int reduce_lane_elements = reduce_lane_bytes / sizeof(Input);
  static constexpr std::uint32_t reduce_row_elements = warp::lanes * reduce_lane_elements;
  static constexpr int reduce_rows = segment_elements / reduce_row_elements;

  static_assert(segment_elements % row_elements == 0);
  static_assert(segment_elements % reduce_row_elements == 0);
  static_assert(scanners % reducers == 0 && scanners <= warp::lanes);
  static_assert(2 * stages + 2 <= static_cast<int>(lookback_rounds));
  static_assert(std::is_same_v<Part, Value> ||
                (std::uint64_t{tile_elements} << (8 * sizeof(Input) % 32)) <= 1u << 31);

  struct Stage {
    Mbarrier loaded;
    Mbarrier reduced;
    Mbarrier preceded;  // what precedes the tile and its segments is known
    Mbarrier free;
    Value since;              // what came before the tile since the block's last one
    Part segments[scanners];  // each segment's aggregate, then what precedes it in the tile
  };

  struct alignas(128) Shared {
    Input inputs[stages][tile_elements];
    Output outputs[scanners * buffers + in_place][in_place ? lane_elements : segment_elements];
    Stage stage[stages];
  };
  static_assert(sizeof(Shared) <= 227 * 1024);
};

/// A tile's turn through the pipeline of a block, which takes the tiles b, b + G, b + 2G, ...
template <class Shape>
class TileTurn {
 public:
  /// Begins with the first tile; block 0 has one of no elements in an array of none.
  __device__ explicit TileTurn(std::uint64_t elements)
      : elements_(elements), first_element_(std::uint64_t{blockIdx.x} * Shape::tile_elements) {}

  __device__ bool exists() const { return first_element_ < elements_ || first_element_ == 0; }

  __device__ void advance() {
    first_element_ += std::uint64_t{gridDim.x} * Shape::tile_elements;
    ++round_;
    if (++stage_ == Shape::stages) {
      stage_ = 0;
      parity_ ^= 1;
    }
  }

  __device__ std::uint64_t first_element() const { return first_element_; }

  /// Says how many elements of the array it has.
  __device__ std::uint32_t elements() const {
    const std::uint64_t rest = elements_ - first_element_;
    return rest < Shape::tile_elements ? static_cast<std::uint32_t>(rest) : Shape::tile_elements;
  }

  __device__ std::uint32_t round() const { return round_; }
  __device__ std::uint32_t stage() const { return stage_; }
  __device__ bool reuses_stage() const { return round_ >= Shape::stages; }

  /// Returns the phase in which the stage holds this tile.
  __device__ std::uint32_t parity() const { return parity_; }

 private:
  std::uint64_t elements_;
  std::uint64_t first_element_;
  std::uint32_t round_ = 0;
  std::uint32_t stage_ = 0;
  std::uint32_t parity_ = 0;
};

}  // namespace warpfold::cuda::kernels
