#include "bench/ingest/stored_ranges.hpp"

#include <gtest/gtest.h>

namespace warpfold::bench {
namespace {

using Pieces = std::vector<io::FileBytes>;
using Chunks = std::vector<io::StoredChunk>;

TEST(CutIntoPieces, EndsWithAShortOne) {
  EXPECT_EQ(split_into_pieces({100, 25}, 10), (Pieces{{100, 10}, {110, 10}, {120, 5}}));
}

TEST(CutIntoPieces, OfNothingAreNone) { EXPECT_EQ(split_into_pieces({100, 0}, 10), Pieces{}); }

TEST(PiecesOfChunks, FollowTheFileWhateverTheOrderOfTheChunks) {
  const Chunks chunks{{5000, 1000, 0}, {2000, 3000, 0}};
  EXPECT_EQ(pieces_of_chunks(chunks, 1 << 20), (Pieces{{2000, 4000}}));
}

TEST(PiecesOfChunks, TakeSmallGapsAlong) {
  EXPECT_EQ(pieces_of_chunks({{0, 1000, 0}, {3000, 1000, 0}}, 1 << 20), (Pieces{{0, 4000}}));
}

TEST(PiecesOfChunks, LeaveLargeGapsOut) {
  const std::uint64_t far = 10 << 20;
  EXPECT_EQ(pieces_of_chunks({{0, 1000, 0}, {far, 1000, 0}}, 1 << 20),
            (Pieces{{0, 1000}, {far, 1000}}));
}

TEST(PiecesOfChunks, AreNoLongerThanAsked) {
  EXPECT_EQ(pieces_of_chunks({{0, 1500, 0}}, 1000), (Pieces{{0, 1000}, {1000, 500}}));
}

TEST(PiecesOfChunks, LeaveOutChunksThatWereNeverWritten) {
  EXPECT_EQ(pieces_of_chunks({{0, 0, 0}, {100, 10, 0}, {0, 0, 0}}, 1000), (Pieces{{100, 10}}));
}

}  // namespace
}  // namespace warpfold::bench
