#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "core/layout/partition.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "cpu/engines/backend.hpp"
#include "cuda/arrays/array_engine.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {

/// Takes arrays in host memory for arrays on a device: what the ranks do together, without a GPU.
class HostArrayEngine final : public cuda::ArrayEngine {
 public:
  void check_memory(const void* memory) const override {
    if (memory == elsewhere) throw Error("an array is elsewhere", "", "");
  }

  void start_reduce(const void* elements, std::uint64_t count, ElementType type, ReduceNeeds needs,
                    cuda::StreamHandle) override {
    if (reducing_) throw Error("a fold was started before the last one's result was taken", "", "");
    reducing_ = backend_->make_reduce_engine({{type, native_byte_order}, {}, count}, needs);
    std::memcpy(reducing_->buffer(0).data(), elements, count * size_of(type));
    reducing_->submit(0, staged_run({}, {0, count}), {});
  }

  Accumulator reduce_result() override {
    const std::unique_ptr<ReduceEngine> finished = std::move(reducing_);
    if (fails_at_result) throw Error("the device is lost", "", "");
    return finished->finish();
  }

  void prepare_scan(const ScanSpec& spec, bool) override { spec_ = spec; }

  bool needs_total(std::uint64_t) const override { return true; }

  Accumulator total(const void* input, std::uint64_t elements, cuda::StreamHandle) override {
    const std::uint64_t whole_tiles = round_up(elements, scan_order::tile_elements);
    scan_ = backend_->make_scan_engine(
        {{spec_.input, {}, whole_tiles, 0, Staging::packed}, whole_tiles}, spec_);
    const std::span<std::byte> memory = scan_->buffer(0, 0, {0, elements});
    std::memcpy(memory.data(), input, elements * size_of(spec_.input.type));
    scan_->load(0, 0, staged_run({}, {0, elements}));
    return scan_->total(0, 0, elements);
  }

  std::optional<std::uint64_t> scan(const void*, void* output, std::uint64_t elements,
                                    const Accumulator& before, cuda::StreamHandle) override {
    const auto overflow = scan_->scan(0, 0, elements, before);
    const std::span<const std::byte> prefixes = scan_->output(0, 0, 0, elements);
    std::memcpy(output, prefixes.data(), elements * size_of(spec_.output));
    return overflow;
  }

  const void* elsewhere = nullptr;  ///< an address that is not the device's
  bool fails_at_result = false;

 private:
  std::unique_ptr<Backend> backend_ = cpu::make_backend(1);
  std::unique_ptr<ReduceEngine> reducing_;
  ScanSpec spec_;
  std::unique_ptr<ScanEngine> scan_;
};

}  // namespace warpfold::pipeline
