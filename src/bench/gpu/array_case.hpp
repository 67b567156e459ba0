#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/cub/cub_peers.hpp"
#include "bench/gpu/rig.hpp"
#include "cuda/runtime/memory.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::bench {

/// A benchmark of one operation on elements of one type.
struct ArrayCaseSpec {
  std::string what;       ///< "histogram"
  std::string operation;  ///< "few"
  ElementType type;
  std::string peer;          ///< the kernel that "warpfold" is compared with
  std::uint64_t arrays = 2;  ///< arrays of a size that memory must hold at once
};

/// Measures one operation on uniform elements in device memory, at all sizes, compared with a peer,
/// a read-only probe and a copy.
class ArrayCase {
 public:
  virtual ~ArrayCase() = default;
  ArrayCase(const ArrayCase&) = delete;
  ArrayCase& operator=(const ArrayCase&) = delete;

  /// Collective.
  void run();

 protected:
  /// Elements of one size: launches go from one part of the array to the next.
  struct Part {
    const std::byte* array;
    std::uint64_t elements;
    std::size_t element_bytes;
    Windows windows;

    std::uint64_t bytes() const { return elements * element_bytes; }

    /// Returns the number of a launch's first element, and its address.
    std::uint64_t first(std::uint64_t launch) const {
      return windows.offset(launch) / element_bytes;
    }
    const std::byte* at(std::uint64_t launch) const { return array + windows.offset(launch); }
  };

  /// A kernel, and what judges the results of its launch number 0.
  struct Kernel {
    std::string name;
    std::function<void(std::uint64_t launch)> run;
    std::function<void(Row& row)> check;
  };

  /// Throws a usage Error for unknown names of kernels. Collective.
  ArrayCase(Rig& rig, const Settings& settings, const ArrayCaseSpec& spec);

  /// Adds the kernels of one size, by add() and add_cub().
  virtual void prepare(const Part& part) = 0;

  /// Checks a kernel that moves `useful_bytes` a launch, and adds it, if it was asked for.
  void add(const Part& part, std::uint64_t useful_bytes, const Kernel& kernel);

  /// Adds CUB's algorithm; a note where there is none. `check` gets its output, in device memory.
  void add_cub(const Part& part, std::uint64_t useful_bytes, const CubLaunch& launch,
               std::uint64_t output_bytes,
               const std::function<void(Row& row, const std::byte* output)>& check);

  /// Returns the elements of launch number 0.
  template <class T>
  std::vector<T> elements(const Part& part) const {
    return cuda::downloaded_array<T>(part.array, part.elements, stream());
  }

  cudaStream_t stream() const { return rig_.stream(); }

  /// Bytes of the array that parts are of.
  std::uint64_t capacity() const { return plan_.capacity; }

 private:
  Row row(const Part& part, std::string operation, std::string kernel) const;
  void add_ceilings(const Part& part);

  Rig& rig_;
  ArrayCaseSpec spec_;
  std::string group_;
  std::vector<std::string> kernels_;
  SizePlan plan_;
  cuda::DeviceBuffer input_;
  cuda::DeviceBuffer target_;  ///< target of copies
  cuda::DeviceBuffer probed_;
  std::vector<Candidate> candidates_;  ///< candidates of one size
};

struct ChosenCases {
  std::vector<ElementType> types;
  std::vector<std::string> operations;
};

/// Returns the operations and types that were asked for; by default all operations, and f64, f32
/// and `integer`. Throws a usage Error for others.
ChosenCases chosen_cases(const Settings& settings, const std::vector<std::string>& operations,
                         ElementType integer);

/// Runs a Case of each type and operation that was asked for. Collective. Throws Error.
template <template <class> class Case, class Integer>
Result measure_cases(MPI_Comm communicator, const Settings& settings,
                     const std::vector<std::string>& operations) {
  const ChosenCases chosen = chosen_cases(settings, operations, element_type_of<Integer>());
  Rig rig(communicator, settings);
  for (const ElementType type : chosen.types)
    for (const std::string& operation : chosen.operations) {
      if (type == ElementType::f64)
        Case<double>(rig, settings, operation).run();
      else if (type == ElementType::f32)
        Case<float>(rig, settings, operation).run();
      else
        Case<Integer>(rig, settings, operation).run();
    }
  return rig.take_result();
}

}  // namespace warpfold::bench
