#pragma once

#include <stdexcept>
#include <string>

namespace warpfold {

/// Exit status of a command's process.
enum class ExitCode : int { done = 0, failed = 1, usage = 2 };

/// Exception of the library. It states what went wrong, why, and what to do.
///
/// `what()` is "WHAT: WHY. WHAT TO DO." on one line, without empty parts. Members of options are in
/// backquotes: "Choose a smaller `slab_bytes`."
class Error : public std::runtime_error {
 public:
  /// Makes an Error of two clauses and of full sentences; `why` and `suggestion` may be empty.
  Error(std::string problem, std::string why, std::string suggestion,
        ExitCode exit_code = ExitCode::failed);

  /// Returns what went wrong.
  const std::string& problem() const noexcept { return problem_; }
  /// Returns the reason, or an empty text.
  const std::string& why() const noexcept { return why_; }
  /// Returns what to do, in full sentences.
  const std::string& suggestion() const noexcept { return suggestion_; }
  /// Returns the exit status for a process that ends with this Error.
  ExitCode exit_code() const noexcept { return exit_code_; }

 private:
  std::string problem_;
  std::string why_;
  std::string suggestion_;
  ExitCode exit_code_;
};

/// Makes an Error for invalid options or arguments; its exit status is 2.
inline Error usage_error(std::string problem, std::string why, std::string suggestion) {
  return Error(std::move(problem), std::move(why), std::move(suggestion), ExitCode::usage);
}

}  // namespace warpfold
