#include "cli/run/interruption.hpp"

#include <gtest/gtest.h>

namespace warpfold::cli {
namespace {

auto handler_of(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

TEST(InterruptionHandlers, NoteTheFirstSignal) {
  const auto before = handler_of(SIGTERM);
  {
    const InterruptionHandlers handlers;
    EXPECT_FALSE(interruption_requested());
    EXPECT_NE(handler_of(SIGTERM), SIG_DFL);
    raise(SIGTERM);
    EXPECT_TRUE(interruption_requested());
    EXPECT_EQ(interrupting_signal(), SIGTERM);
  }
  EXPECT_EQ(handler_of(SIGTERM), before);
}

TEST(InterruptionHandlers, EndTheProgramBySomeSignalTwice) {
  const auto raise_twice = [] {
    const InterruptionHandlers handlers;
    raise(SIGINT);
    raise(SIGTERM);
    raise(SIGTERM);
  };
  EXPECT_EXIT(raise_twice(), testing::KilledBySignal(SIGTERM), "");
}

TEST(InterruptionHandlers, DoNotInterruptTheNextRun) {
  {
    const InterruptionHandlers handlers;
    raise(SIGINT);
    EXPECT_TRUE(interruption_requested());
  }
  const InterruptionHandlers handlers;
  EXPECT_FALSE(interruption_requested());
  EXPECT_EQ(interrupting_signal(), 0);
}

TEST(InterruptionHandlers, GoOnIgnoringHangups) {
  const auto before = signal(SIGHUP, SIG_IGN);
  {
    const InterruptionHandlers handlers;
    EXPECT_EQ(handler_of(SIGHUP), SIG_IGN);
  }
  signal(SIGHUP, SIG_DFL);
  {
    const InterruptionHandlers handlers;
    EXPECT_NE(handler_of(SIGHUP), SIG_DFL);
  }
  signal(SIGHUP, before);
}

}  // namespace
}  // namespace warpfold::cli
