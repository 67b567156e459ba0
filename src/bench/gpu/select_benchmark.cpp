#include <algorithm>
#include <iterator>
#include <memory>
#include <type_traits>

#include "bench/gpu/array_case.hpp"
#include "core/values/ordered_key.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/select/select_elements.hpp"

namespace warpfold::bench {
namespace {

double share_of(const std::string& operation) {
  return operation == "tenth" ? 0.1 : operation == "half" ? 0.5 : 0.9;
}

template <class T>
class SelectCase : public ArrayCase {
 public:
  SelectCase(Rig& rig, const Settings& settings, const std::string& operation)
      : ArrayCase(rig, settings, {"select", operation, element_type_of<T>(), "CUB", 4}),
        most_(quantile(share_of(operation))) {}

 private:
  /// Returns the number that about `share` of the uniform elements don't exceed.
  static T quantile(double share) {
    return static_cast<T>(std::is_integral_v<T> ? (share - 0.5) * 0x1p32 : share);
  }

  void prepare(const Part& part) override {
    std::vector<T> right;
    std::ranges::copy_if(elements<T>(part), std::back_inserter(right),
                         [this](T element) { return element <= most_; });
    const std::uint64_t useful_bytes = part.bytes() + right.size() * sizeof(T);
    cuda::SelectRule rule{{element_type_of<T>()}, {}};
    rule.decoding.values.maximum = ordered_key(most_);
    const auto selected = std::make_shared<cuda::SelectedElements>(rule, part.elements);
    add(part, useful_bytes,
        {.name = "warpfold",
         .run =
             [=, this](std::uint64_t launch) {
               selected->select(part.at(launch), part.elements, {}, stream());
             },
         .check = [&](Row& row) { judge(row, selected->values(), selected->count(), right); }});
    add_cub(part, useful_bytes, cub_select(element_type_of<T>(), static_cast<double>(most_)),
            cub_select_offset + part.bytes(), [&](Row& row, const std::byte* output) {
              judge(row, output + cub_select_offset, reinterpret_cast<const std::uint64_t*>(output),
                    right);
            });
  }

  void judge(Row& row, const void* values, const std::uint64_t* count,
             const std::vector<T>& right) const {
    const auto selected = cuda::downloaded_value<std::uint64_t>(count, stream());
    const bool is_right =
        selected == right.size() && cuda::downloaded_array<T>(values, selected, stream()) == right;
    row.check = is_right ? Check::right : Check::wrong;
  }

  T most_;
};

}  // namespace

Result bench_select(MPI_Comm communicator, const Settings& settings) {
  return measure_cases<SelectCase, std::int32_t>(communicator, settings, {"tenth", "half", "most"});
}

}  // namespace warpfold::bench
