#include "bench/harness/selection.hpp"

#include <algorithm>

#include "cli/options/option_values.hpp"
#include "core/layout/partition.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench {
namespace {

constexpr std::uint64_t alignment = 256;

}  // namespace

std::vector<std::string> chosen_names(std::string_view what, const std::vector<std::string>& asked,
                                      const std::vector<std::string>& all,
                                      const std::vector<std::string>& usual) {
  for (const std::string& name : asked) {
    if (contains(all, name)) continue;
    std::string list;
    for (const std::string& each : all) list += (list.empty() ? "" : ", ") + each;
    throw usage_error("unknown " + std::string(what) + " '" + name + "'", "",
                      "Choose from " + list + ".");
  }
  return asked.empty() ? usual : asked;
}

std::vector<ElementType> chosen_types(const std::vector<std::string>& asked,
                                      const std::vector<ElementType>& usual) {
  if (asked.empty()) return usual;
  std::vector<ElementType> types;
  for (const std::string& name : asked) types.push_back(parse_element_type(name));
  return types;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::uint64_t> sizes_or_usual(const std::vector<std::uint64_t>& asked) {
  constexpr std::uint64_t kibibyte = std::uint64_t{1} << 10;
  constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
  return asked.empty() ? cli::powers_of_4(kibibyte, 4 * gibibyte) : asked;
}

SizePlan plan_sizes(const std::vector<std::uint64_t>& ascending_sizes, std::uint64_t arrays,
                    std::uint64_t memory_bytes, std::uint64_t rotation) {
  const std::uint64_t room = memory_bytes / arrays / alignment * alignment;
  SizePlan plan;
  for (const std::uint64_t size : ascending_sizes)
    (size <= room ? plan.fitting : plan.too_large).push_back(size);
  if (plan.fitting.empty()) return plan;
  const std::uint64_t largest = round_up(plan.fitting.back(), alignment);
  plan.capacity = std::max(largest, std::min(rotation / alignment * alignment, room));
  return plan;
}

Windows::Windows(std::uint64_t capacity, std::uint64_t part_bytes)
    : stride_(round_up(part_bytes, alignment)),
      count_(std::max<std::uint64_t>(1, capacity / stride_)) {}

}  // namespace warpfold::bench
