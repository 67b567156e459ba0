#include "io/dataset/library_dataset.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace warpfold::io {
namespace {

using Shape = std::vector<std::uint64_t>;

/// Returns the elements of a selection of three dimensions, in row-major order.
std::vector<Shape> elements_of(const Selection& part) {
  std::vector<Shape> elements;
  for (std::uint64_t i = 0; i < part[0].count; ++i)
    for (std::uint64_t j = 0; j < part[1].count; ++j)
      for (std::uint64_t k = 0; k < part[2].count; ++k)
        elements.push_back({part[0].start + i * part[0].step, part[1].start + j * part[1].step,
                            part[2].start + k * part[2].step});
  return elements;
}

std::size_t chunks_of(const Selection& part, const Shape& chunk_shape) {
  std::set<Shape> chunks;
  for (Shape element : elements_of(part)) {
    for (std::size_t d = 0; d < element.size(); ++d) element[d] /= chunk_shape[d];
    chunks.insert(element);
  }
  return chunks.size();
}

void expect_pieces(const Selection& part, const Shape& chunk_shape, std::uint64_t max_chunks) {
  std::vector<Shape> elements;
  for (const Selection& piece : pieces_by_chunks(part, chunk_shape, max_chunks)) {
    EXPECT_LE(chunks_of(piece, chunk_shape), max_chunks);
    for (const Shape& element : elements_of(piece)) elements.push_back(element);
  }
  EXPECT_EQ(elements, elements_of(part));
}

TEST(CutByChunks, PiecesFollowEachOtherInFewChunks) {
  for (const Shape& chunk_shape : {Shape{1, 1, 1}, Shape{4, 3, 2}, Shape{100, 1, 7}}) {
    for (const std::uint64_t max_chunks : {1U, 2U, 5U, 30U}) {
      expect_pieces({{0, 9}, {0, 7}, {0, 8}}, chunk_shape, max_chunks);
      expect_pieces({{3, 5, 2}, {5, 1}, {1, 6, 5}}, chunk_shape, max_chunks);
      expect_pieces({{7, 1}, {2, 11}, {0, 3, 40}}, chunk_shape, max_chunks);
    }
  }
}

TEST(CutByChunks, WhatLiesInFewChunksStaysWhole) {
  const Selection part{{0, 1000}, {0, 1000}};
  EXPECT_EQ(pieces_by_chunks(part, Shape{100, 100}, 100), std::vector<Selection>{part});
}

TEST(CutByChunks, ChunksStayWholeWhereTheyCan) {
  const std::vector<Selection> expected{{{0, 20}}, {{20, 10}}, {{30, 20}}};
  EXPECT_EQ(pieces_by_chunks({{0, 50}}, Shape{10}, 2), expected);
}

TEST(ChunkCacheFor, HoldsOneRowOfChunks) {
  const ChunkCache cache = chunk_cache_for(Shape{100, 25, 9}, Shape{10, 10, 3}, 4);
  EXPECT_EQ(cache.bytes, 3U * 3U * 10U * 10U * 3U * 4U);
  EXPECT_EQ(cache.slots, 907U);
}

TEST(ChunkCacheFor, HoldsAtMost256MiB) {
  const ChunkCache cache = chunk_cache_for(Shape{8, std::uint64_t{1} << 40}, Shape{1, 1 << 20}, 8);
  EXPECT_EQ(cache.bytes, std::size_t{256} << 20);
}

TEST(ChunkCacheFor, HoldsAtLeastOneChunk) {
  const ChunkCache cache = chunk_cache_for(Shape{1 << 30}, Shape{1 << 27}, 8);
  EXPECT_EQ(cache.bytes, std::size_t{1} << 30);
  EXPECT_EQ(cache.slots, 101U);
}

TEST(ChunkCacheFor, HandlesEmptyShapes) {
  EXPECT_EQ(chunk_cache_for(Shape{0, 0}, Shape{5, 5}, 2).bytes, 50U);
}

}  // namespace
}  // namespace warpfold::io
