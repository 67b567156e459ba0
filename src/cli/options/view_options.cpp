#include "cli/options/view_options.hpp"

#include <string>
#include <vector>

namespace warpfold::cli {
namespace {

/// An option's name is no condition: CLI11 takes what follows, whatever it is.
void require_conditions(const std::vector<std::string>& texts) {
  for (const std::string& text : texts)
    if (text.starts_with("--")) throw CLI::ArgumentMismatch::AtLeast("--where", 1, 0);
}

}  // namespace

void add_view_options(CLI::App& application, ViewOptions& options) {
  const auto add_text = [&](const char* name, const char* type, const char* help,
                            std::string& text) {
    application.add_option(name, text, help)->type_name(type)->group("Elements");
  };
  add_text(
      "--select", "SLICE,...",
      "A part of the dataset in NumPy's notation, as '10:20, ::2, -1'; everything if not given",
      options.select);
  application
      .add_option_function<std::vector<std::string>>(
          "--where",
          [&options](const std::vector<std::string>& texts) {
            require_conditions(texts);
            options.where = texts;
          },
          "Leave out elements whose value does not meet a condition, as '>0', '!=nan' or 'finite'; "
          "several conditions must all be met")
      ->type_name("CONDITION")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Elements");
  add_text("--fill-value", "auto|VALUE|none",
           "Leave out elements equal to VALUE, or to the dataset's _FillValue and missing_value; "
           "none if not given",
           options.fill_value);
  application
      .add_flag("--cf", options.cf,
                "Unpack values by the dataset's scale_factor and add_offset (CF conventions)")
      ->group("Elements");
}

}  // namespace warpfold::cli
