#include "warpfold/host_collectives.hpp"

#include <string>

#include "core/numeric/field_sum.hpp"
#include "cpu/engines/host_array_engine.hpp"
#include "mpi/combine.hpp"
#include "pipeline/arrays/array_collectives.hpp"
#include "pipeline/run/collective.hpp"

namespace warpfold {
namespace {

/// Messages have at most 2^31 - 1 words.
constexpr std::size_t most_fields = std::size_t{1} << 23;

/// Returns the word for sums of fields: their number, types and which are of products.
std::uint64_t form_of(const std::vector<Field>& fields) {
  std::uint64_t form = fields.size();
  for (const Field& field : fields) {
    const std::uint64_t kind = static_cast<std::uint64_t>(field.elements.type) << 1;
    form = (form ^ (kind | (field.factors ? 1u : 0u))) * 0x9e3779b97f4a7c15;
  }
  return form << 1 | 1u;
}

void check_field(const Field& field, const ArrayEngine& engine) {
  const Array& elements = field.elements;
  const auto check = [&](const char* name, const Array& array) {
    pipeline::check_array(name, array.data, array.count, size_of(array.type), engine);
  };
  check("field", elements);
  if (!field.factors) return;
  check("array of factors", *field.factors);
  if (field.factors->count != elements.count || field.factors->type != elements.type)
    throw usage_error("a field and its factors differ in number or type",
                      std::to_string(elements.count) + " " + std::string(name_of(elements.type)) +
                          " and " + std::to_string(field.factors->count) + " " +
                          std::string(name_of(field.factors->type)),
                      "Pass as many factors as elements, of their type.");
}

std::vector<FieldSum> sums_of_rank(const std::vector<Field>& fields, cpu::HostArrayEngine& engine) {
  if (fields.size() > most_fields)
    throw usage_error("too many fields for one message", std::to_string(fields.size()) + " fields",
                      "Sum up to " + std::to_string(most_fields) + " in a call.");
  std::vector<FieldSum> sums;
  for (const Field& field : fields) {
    check_field(field, engine);
    sums.push_back(engine.sum(field));
  }
  return sums;
}

}  // namespace

struct HostCollectives::Parts {
  explicit Parts(MPI_Comm parent) : communicator(parent) {
    // Throws before anything is under way if the setting is wrong.
    communicator.scan_way();
  }

  mpi::Communicator communicator;
  cpu::HostArrayEngine engine;
};

HostCollectives::HostCollectives(MPI_Comm communicator)
    : parts_(std::make_unique<Parts>(communicator)) {}

HostCollectives::~HostCollectives() = default;
HostCollectives::HostCollectives(HostCollectives&&) noexcept = default;
HostCollectives& HostCollectives::operator=(HostCollectives&&) noexcept = default;

Summary HostCollectives::reduce(const Array& array, const ArrayReduceOptions& options,
                                const std::uint8_t* mask) {
  parts_->engine.select(mask);
  return pipeline::reduce_array(array, options, nullptr, parts_->engine, parts_->communicator);
}

void HostCollectives::scan(const Array& input, void* output, const ArrayScanOptions& options) {
  pipeline::scan_array(input, output, options, nullptr, parts_->engine, parts_->communicator);
}

std::vector<Value> HostCollectives::sums(const std::vector<Field>& fields) {
  std::vector<FieldSum> mine;
  const std::exception_ptr failure =
      pipeline::capture_exception([&] { mine = sums_of_rank(fields, parts_->engine); });
  pipeline::agree(failure, form_of(fields), parts_->communicator);
  const std::vector<FieldSum> whole =
      sums_of(mpi::sum_everywhere(words_of(mine), parts_->communicator), mine);
  std::vector<Value> values;
  for (std::size_t i = 0; i < fields.size(); ++i)
    values.push_back(value_of(whole[i], fields[i].elements.type));
  return values;
}

void HostCollectives::refuse(const Error& mistake) {
  pipeline::refuse(mistake, parts_->communicator);
}

}  // namespace warpfold
