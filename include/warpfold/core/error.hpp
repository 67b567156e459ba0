#pragma once

#include <stdexcept>
#include <string>

namespace warpfold {

/// An exit code states how a command ended: it is the process's exit status.
enum class ExitCode : int { done = 0, failed = 1, usage = 2 };

/// An Error is what the library throws: it states what went wrong, why, and what to do about it.
///
/// `what()` reads "WHAT: WHY. WHAT TO DO." on one line, without those parts that are empty. Members
/// of options stand in backquotes: "Give a smaller `slab_bytes`."
class Error : public std::runtime_error {
 public:
  /// Makes an Error of two clauses and sentences; `why` and `suggestion` may be empty.
  Error(std::string problem, std::string why, std::string suggestion,
        ExitCode exit_code = ExitCode::failed);

  /// Returns what went wrong.
  const std::string& problem() const noexcept { return problem_; }
  /// Returns the reason, or an empty text.
  const std::string& why() const noexcept { return why_; }
  /// Returns what to do about it, in full sentences.
  const std::string& suggestion() const noexcept { return suggestion_; }
  /// Returns the exit status for a process that ends because of it.
  ExitCode exit_code() const noexcept { return exit_code_; }

 private:
  std::string problem_;
  std::string why_;
  std::string suggestion_;
  ExitCode exit_code_;
};

/// Makes an Error for wrong options or arguments: the process exits with 2.
inline Error usage_error(std::string problem, std::string why, std::string suggestion) {
  return Error(std::move(problem), std::move(why), std::move(suggestion), ExitCode::usage);
}

}  // namespace warpfold
