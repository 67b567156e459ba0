#include "core/scan/scan_spec.hpp"

#include <cstddef>
#include <string>

#include "core/base/text.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
std::string_view name_of(ScanOperation operation) {
  constexpr std::string_view names[] = {"sum", "min", "max"};
  return names[static_cast<std::size_t>(operation)];
}

ScanOperation parse_scan_operation(std::string_view name) {
  if (const auto operation = find_named(all_scan_operations, name)) return *operation;
  throw usage_error("unknown scan operation '" + std::string(name) + "'", "",
                    "Choose from " + listed_names(all_scan_operations) + ".");
}

ElementType default_scan_output(ElementType input, ScanOperation operation) {
  if (operation != ScanOperation::sum || is_floating(input)) return input;
  return is_signed_integer(input) ? ElementType::i64 : ElementType::u64;
}

void validate(const ScanSpec& spec) {
  if (is_integer(spec.input.type) || is_floating(spec.output)) return;
  throw usage_error("a scan of " + std::string(name_of(spec.input.type)) +
                        " cannot be written as " + std::string(name_of(spec.output)),
                    "integers cannot hold fractions, NaN or infinities",
                    "Choose f16, bf16, f32 or f64 as the output type.");
}

}  // namespace warpfold
