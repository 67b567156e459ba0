#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/dataset/dataset_text.hpp"
#include "warpfold/core/statistic.hpp"

namespace warpfold::pipeline {

/// Text attributes that are other than the input's, none for those that are false of the output.
using ChangedText = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// Returns what CF's attributes of a statistic along dimensions are that those of the input are
/// not; where the input has none, neither has the statistic. `reduced` are the names of the
/// dimensions, all or none.
ChangedText text_of(Statistic statistic, const io::DatasetText& input,
                    const std::vector<std::string>& reduced);

/// The same of a quantile.
ChangedText quantile_text_of(double fraction, const io::DatasetText& input,
                             const std::vector<std::string>& reduced);

/// Writes the square of a unit as UDUNITS reads it: "K2", "(m s-1)2"; of a temperature in degrees
/// Celsius, and of a time since a date, that of their differences: "K2", "days2".
std::string squared_unit(const std::string& unit);

}  // namespace warpfold::pipeline
