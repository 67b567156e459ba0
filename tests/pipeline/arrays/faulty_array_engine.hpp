#pragma once

#include <optional>

#include "cpu/engines/host_array_engine.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {

/// Takes arrays in host memory for arrays on a device that may fail.
class FaultyArrayEngine final : public ArrayEngine {
 public:
  void check_memory(const void* memory) const override {
    if (memory == elsewhere) throw Error("an array is elsewhere", "", "");
  }

  void start_reduce(const void* elements, std::uint64_t count, ElementType type, ReduceNeeds needs,
                    StreamHandle stream) override {
    if (reducing_)
      throw Error("a reduction was started before the last one's result was taken", "", "");
    reducing_ = true;
    host_.start_reduce(elements, count, type, needs, stream);
  }

  Accumulator reduce_result() override {
    reducing_ = false;
    if (fails_at_result) throw Error("the device is lost", "", "");
    return host_.reduce_result();
  }

  void prepare_scan(const ScanSpec& spec, bool reproducible) override {
    host_.prepare_scan(spec, reproducible);
  }

  bool needs_total(std::uint64_t) const override { return true; }

  Accumulator total(const void* input, std::uint64_t elements, StreamHandle stream) override {
    return host_.total(input, elements, stream);
  }

  std::optional<std::uint64_t> scan(const void* input, void* output, std::uint64_t elements,
                                    const Accumulator& before, StreamHandle stream) override {
    return host_.scan(input, output, elements, before, stream);
  }

  const void* elsewhere = nullptr;  ///< an address that is not the device's
  bool fails_at_result = false;

 private:
  cpu::HostArrayEngine host_;
  bool reducing_ = false;
};

}  // namespace warpfold::pipeline
