#include "io/output/temporary_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <random>
#include <string_view>

#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr std::size_t longest_file_name = 255;
constexpr std::string_view suffix = ".tmp";
constexpr std::size_t digits = 16;

/// Returns how temporary names beside `path` begin: all before the digits.
std::string prefix_beside(const std::string& path) {
  const std::string mark = ".warpfold-";
  const std::size_t others = 1 + mark.size() + digits + suffix.size();
  std::string prefix(1, '.');
  prefix += file_name_of(path).substr(0, longest_file_name - others);
  return prefix += mark;
}

std::string random_name_beside(const std::string& path) {
  std::random_device random;
  std::array<char, digits + 1> text{};
  std::snprintf(text.data(), text.size(), "%08x%08x", random(), random());
  return folder_of(path) + "/" + prefix_beside(path) + text.data() + std::string(suffix);
}

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_temporary_name(std::string_view name, std::string_view prefix) {
  return name.size() == prefix.size() + digits + suffix.size() && name.starts_with(prefix) &&
         name.ends_with(suffix) && is_hexadecimal(name.substr(prefix.size(), digits));
}

/// Locks the whole file until the descriptor is closed; the kernel does that for processes that are
/// killed. Not the lock that HDF5 takes. False where another has it or there are no locks.
bool lock(int descriptor) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(descriptor, F_OFD_SETLK, &whole) == 0;
}

/// Tells whether `path` names the open file, and nothing else does.
bool is_only_name(const std::string& path, int descriptor) {
  struct stat named {};
  struct stat opened {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(descriptor, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino && opened.st_nlink == 1;
}

bool is_own_regular_file(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_uid == ::geteuid();
}

void remove_if_stale(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file || !is_own_regular_file(file.get()) || !lock(file.get())) return;
  if (is_only_name(path, file.get())) ::unlink(path.c_str());
}

}  // namespace

/// Memory that never moves, for a signal's handler to read.
struct NotedPath {
  std::array<char, PATH_MAX> text{};
  std::atomic<bool> is_set{false};
};

namespace {

static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler reads them");
std::array<NotedPath, 16> noted_paths;

/// Notes a path; does without where it is too long, or there are too many.
std::unique_ptr<NotedPath, Forget> note(const std::string& path) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto free =
      std::ranges::find_if(noted_paths, [](const auto& each) { return !each.is_set; });
  if (free == noted_paths.end() || path.size() >= free->text.size()) return nullptr;
  path.copy(free->text.data(), path.size());
  free->text[path.size()] = '\0';
  free->is_set = true;
  return std::unique_ptr<NotedPath, Forget>(&*free);
}

}  // namespace

void Forget::operator()(NotedPath* noted) const noexcept { noted->is_set = false; }

void remove_noted_temporaries() noexcept {
  for (const NotedPath& noted : noted_paths)
    if (noted.is_set) ::unlink(noted.text.data());
}

TemporaryFile create_temporary_beside(const std::string& path, const std::string& problem) {
  // Another process may take a new file for a stale one until it is locked.
  constexpr int attempts = 100;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::string name = random_name_beside(path);
    auto noted = note(name);
    FileDescriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!file && errno != EEXIST) throw Error(problem, describe_errno(errno), "");
    if (!file) continue;
    lock(file.get());
    if (is_only_name(name, file.get())) return {name, std::move(file), std::move(noted)};
  }
  throw Error(problem, "another program removes its temporary files",
              "Try again, or name an output elsewhere.");
}

void remove_stale_temporaries(const std::string& path) {
  const std::string folder = folder_of(path);
  const std::string prefix = prefix_beside(path);
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (is_temporary_name(name, prefix)) remove_if_stale(folder + "/" + name);
  }
}

}  // namespace warpfold::io
