#pragma once

#include <string>

#include "warpfold/core/error.hpp"
#include "warpfold/core/read_path.hpp"

namespace warpfold::io {

/// Puts a rule in force for the whole process while it lives. Of several the strictest holds.
/// Thread-safe.
class ExternalFilesRule {
 public:
  explicit ExternalFilesRule(ExternalFiles rule);
  ~ExternalFilesRule();
  ExternalFilesRule(const ExternalFilesRule&) = delete;
  ExternalFilesRule& operator=(const ExternalFilesRule&) = delete;

 private:
  ExternalFiles rule_;
};

/// Returns the rule in force, `any` without one.
ExternalFiles external_files_rule();

/// Is thrown where the rule in force forbids to read a file.
class RefusedFile : public Error {
 public:
  /// `reason` precedes the rule: "it needs '/etc/passwd'".
  RefusedFile(const std::string& problem, const std::string& reason);
};

/// Returns whether the rule in force allows to read the file `path`, which an HDF5 file names. Both
/// need not exist.
bool is_allowed(const std::string& path, const std::string& naming_file);

/// Throws RefusedFile, beginning with `problem`, unless is_allowed().
void require_allowed(const std::string& path, const std::string& naming_file,
                     const std::string& problem);

}  // namespace warpfold::io
