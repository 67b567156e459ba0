#include "io/files/external_files.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <system_error>

namespace warpfold::io {
namespace {

namespace fs = std::filesystem;

/// Counts the rules that live, by what they allow.
std::atomic<int>& living(ExternalFiles rule) {
  static std::array<std::atomic<int>, 3> counts{};
  return counts[static_cast<std::size_t>(rule)];
}

/// Returns the folder of a path without symbolic links and `..`; empty where it can't be
/// determined.
fs::path canonical_folder(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return {};
  const fs::path canonical = fs::weakly_canonical(absolute, error);
  return error ? fs::path() : canonical.parent_path();
}

std::string reason_of_rule() {
  return external_files_rule() == ExternalFiles::none
             ? "and all files but the named one are refused"
             : "and files outside the folder of the file that names them are refused";
}

}  // namespace

ExternalFilesRule::ExternalFilesRule(ExternalFiles rule) : rule_(rule) { ++living(rule_); }

ExternalFilesRule::~ExternalFilesRule() { --living(rule_); }

ExternalFiles external_files_rule() {
  for (const ExternalFiles rule : {ExternalFiles::none, ExternalFiles::same_folder})
    if (living(rule) > 0) return rule;
  return ExternalFiles::any;
}

RefusedFile::RefusedFile(const std::string& problem, const std::string& reason)
    : Error(problem, reason + ", " + reason_of_rule(),
            "Use `external` any if you trust the file.") {}

bool is_allowed(const std::string& path, const std::string& naming_file) {
  const ExternalFiles rule = external_files_rule();
  if (rule != ExternalFiles::same_folder) return rule == ExternalFiles::any;
  const fs::path folder = canonical_folder(naming_file);
  return !folder.empty() && canonical_folder(path) == folder;
}

void require_allowed(const std::string& path, const std::string& naming_file,
                     const std::string& problem) {
  if (!is_allowed(path, naming_file)) throw RefusedFile(problem, "it needs '" + path + "'");
}

}  // namespace warpfold::io
