// MPI initialised, for as long as this lives.
#pragma once

#include <exception>

namespace straddle::comm {

// Initialises MPI (funneled) unless somebody did, and finalises it only if it was the one who initialised it.
//
// MPI_Finalize waits for all ranks. So it is left out when an exception ends this rank's session, which other
// ranks may know nothing of, and after abandon(): the process then ends without it, and the launcher ends the
// others.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  void abandon() { owns_ = false; }
  [[nodiscard]] bool is_unwinding() const { return std::uncaught_exceptions() > exceptions_; }

 private:
  int exceptions_ = std::uncaught_exceptions();  // under way when the session began
  bool owns_ = false;
};

}  // namespace straddle::comm
