#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "warpfold/core/error.hpp"

namespace warpfold::testing {

/// The usage Error that `call` throws; a failed test where it throws none.
template <class Call>
Error usage_error_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return Error("", "", "");
}

}  // namespace warpfold::testing
