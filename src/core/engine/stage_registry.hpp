#pragma once

#include <mutex>
#include <vector>

#include "warpfold/core/stage_timing.hpp"

namespace warpfold {

/// The stages of a run's start, which take no data, and those that data pass, by the names that
/// reports give them.
namespace stage {
inline constexpr const char* start_mpi = "start MPI";
inline constexpr const char* start_gpu = "start GPU";
inline constexpr const char* open = "open";
inline constexpr const char* reserve = "reserve";
inline constexpr const char* read = "read";
inline constexpr const char* decompress = "decompress";
inline constexpr const char* copy_to_gpu = "copy to GPU";
inline constexpr const char* decompress_on_gpu = "decompress on GPU";
inline constexpr const char* reduce = "fold";
inline constexpr const char* reduce_on_cores = "fold on cores";  ///< if a GPU reduces, too
inline constexpr const char* scan = "scan";
inline constexpr const char* compact = "compact";
inline constexpr const char* exscan = "exscan";
inline constexpr const char* copy_from_gpu = "copy from GPU";
inline constexpr const char* generate = "generate";
inline constexpr const char* read_back = "read back";
inline constexpr const char* compress = "compress";
inline constexpr const char* finish = "finish";  ///< statistics of totals
inline constexpr const char* write = "write";
inline constexpr const char* sync = "sync";
inline constexpr const char* combine = "combine";
}  // namespace stage

/// Registry of the stages of a rank's run. Thread-safe; readable while the stages run.
class StageRegistry {
 public:
  /// A worker that does a stage's work, or a part of it.
  class Source {
   public:
    virtual ~Source() = default;

    /// So far. Any thread may ask.
    virtual StageProgress progress() const = 0;
  };

  /// Keeps a source on a board (none where null); what the source did stays there. To be the last
  /// member of the source's class, which is final.
  class Entry {
   public:
    Entry(StageRegistry* registry, const Source& source);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    StageRegistry* registry_;
    const Source& source_;
  };

  /// All stages that ever began, in the order that data take.
  std::vector<StageProgress> progress() const;

 private:
  mutable std::mutex mutex_;
  std::vector<const Source*> sources_;
  std::vector<StageProgress> ended_;  ///< progress of every stage by sources that are gone
};

}  // namespace warpfold
