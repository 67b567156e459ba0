#pragma once

#include <exception>
#include <string>

#include "warpfold/core/error.hpp"
#include "warpfold/warpfold.h"

namespace warpfold {

inline thread_local std::string last_error;

/// Calls `body`; keeps the message of what it throws, and returns its code.
template <class Body>
int status_of(Body&& body) {
  try {
    body();
    return WARPFOLD_OK;
  } catch (const Error& error) {
    last_error = error.what();
    return error.exit_code() == ExitCode::usage ? WARPFOLD_USAGE : WARPFOLD_FAILED;
  } catch (const std::exception& exception) {
    last_error = exception.what();
    return WARPFOLD_FAILED;
  }
}

}  // namespace warpfold
