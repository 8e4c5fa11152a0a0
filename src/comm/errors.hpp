// What can go wrong between ranks.
#pragma once

#include <stdexcept>
#include <string>

namespace straddle::comm {

// An operation failed or was used wrongly: names operation, purpose, rank and both sizes.
class CommError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The operation can never end: the deadline passed, or every rank of the world is blocked. The message says
// which operation.
class HangError : public CommError {
 public:
  using CommError::CommError;
};

}  // namespace straddle::comm
