#include "bench/gpu/array_case.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "bench/kernels/kernels.hpp"
#include "cuda/runtime/stream.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench {
namespace {

std::vector<std::uint64_t> sizes_of(const Settings& settings) {
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
  if (!settings.sizes.empty()) return settings.sizes;
  return {16 * mebibyte, 256 * mebibyte, 4096 * mebibyte};
}

std::vector<std::string> kernels_of(const Settings& settings, const ArrayCaseSpec& spec) {
  const std::vector<std::string> all{"warpfold", spec.peer, "read", "copy"};
  return chosen_names("kernel", settings.kernels, all, all);
}

}  // namespace

ArrayCase::ArrayCase(Rig& rig, const Settings& settings, const ArrayCaseSpec& spec)
    : rig_(rig),
      spec_(spec),
      group_(spec.what + ' ' + std::string(name_of(spec.type)) + ' ' + spec.operation),
      kernels_(kernels_of(settings, spec)),
      plan_(plan_sizes(sizes_of(settings), spec.arrays, rig.memory_bytes(), rotation_bytes)) {
  rig_.on_every_rank([&] {
    input_ = cuda::DeviceBuffer(capacity());
    target_ = cuda::DeviceBuffer(capacity());
    probed_ = cuda::DeviceBuffer(sizeof(std::uint32_t));
    cuda::fill_bytes(probed_.data(), 0, probed_.size(), stream());
    kernels::fill(input_.data(), spec_.type, kernels::Pattern::uniform,
                  capacity() / size_of(spec_.type), static_cast<std::uint64_t>(rig_.rank()) + 1,
                  stream());
  });
}

void ArrayCase::run() {
  const std::size_t element_bytes = size_of(spec_.type);
  for (const std::uint64_t size : plan_.fitting) {
    if (size < element_bytes) continue;
    rig_.measure([&] {
      const Part part{input_.data(), size / element_bytes, element_bytes, {capacity(), size}};
      candidates_.clear();
      prepare(part);
      add_ceilings(part);
      return std::exchange(candidates_, {});
    });
  }
  for (const std::uint64_t size : plan_.too_large)
    rig_.add_note(group_, size, "skipped: the GPU's memory does not hold such arrays");
}

Row ArrayCase::row(const Part& part, std::string operation, std::string kernel) const {
  return {.group = group_,
          .operation = std::move(operation),
          .kernel = std::move(kernel),
          .elements = part.elements,
          .bytes = part.bytes(),
          .useful_bytes = part.bytes()};
}

void ArrayCase::add(const Part& part, std::uint64_t useful_bytes, const Kernel& kernel) {
  if (!contains(kernels_, kernel.name)) return;
  Candidate candidate{row(part, spec_.operation, kernel.name)};
  candidate.row.useful_bytes = useful_bytes;
  candidate.run = kernel.run;
  candidate.run(0);
  kernel.check(candidate.row);
  candidates_.push_back(std::move(candidate));
}

void ArrayCase::add_cub(const Part& part, std::uint64_t useful_bytes, const CubLaunch& launch,
                        std::uint64_t output_bytes,
                        const std::function<void(Row& row, const std::byte* output)>& check) {
  if (!contains(kernels_, "CUB")) return;
  if (launch == nullptr) {
    candidates_.push_back({row(part, spec_.operation, "CUB")});
    candidates_.back().row.note = cub_absence();
    return;
  }
  const CubRun cub(launch, part.elements, stream());
  const auto output = std::make_shared<cuda::DeviceBuffer>(output_bytes);
  add(part, useful_bytes,
      {.name = "CUB",
       .run = [=](std::uint64_t number) { cub(part.at(number), output->data()); },
       .check = [&](Row& row) { check(row, output->data()); }});
}

void ArrayCase::add_ceilings(const Part& part) {
  if (contains(kernels_, "read")) {
    candidates_.push_back({row(part, "read", "read")});
    candidates_.back().run = [=, this,
                              blocks = kernels::resident_probe_blocks()](std::uint64_t launch) {
      kernels::read_probe(part.at(launch), part.bytes(),
                          reinterpret_cast<std::uint32_t*>(probed_.data()), blocks, stream());
    };
  }
  if (contains(kernels_, "copy"))
    candidates_.push_back(rig_.copy(row(part, "copy", "copy"), target_, input_, part.windows));
}

ChosenCases chosen_cases(const Settings& settings, const std::vector<std::string>& operations,
                         ElementType integer) {
  const std::vector<ElementType> known{ElementType::f64, ElementType::f32, integer};
  const std::vector<ElementType> types = chosen_types(settings.types, known);
  for (const ElementType type : types)
    if (std::ranges::find(known, type) == known.end())
      throw usage_error("cannot measure " + std::string(name_of(type)), "",
                        "Choose from f64, f32, " + std::string(name_of(integer)) + ".");
  return {types, chosen_names("operation", settings.operations, operations, operations)};
}

}  // namespace warpfold::bench
