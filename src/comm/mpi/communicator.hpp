// An MPI communicator of our own.
#pragma once

#include <optional>

#include "comm/mpi/api.hpp"

namespace straddle::comm {

// Move-only handle; every call on the communicator returns its errors. The destructor frees it and waits for
// nobody.
class Communicator {
 public:
  // Collective over all ranks of `original`.
  [[nodiscard]] static Communicator duplicate(MPI_Comm original);
  // The first n ranks; nothing on the others. Collective over all ranks of this communicator.
  [[nodiscard]] std::optional<Communicator> first_ranks(int n) const;
  // The ranks that share memory with this one. Collective.
  [[nodiscard]] Communicator node() const;

  ~Communicator();
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;

  [[nodiscard]] MPI_Comm get() const { return comm_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  // Leaves the communicator to the library: after a failure messages may be under way in it.
  void abandon() { comm_ = MPI_COMM_NULL; }

 private:
  explicit Communicator(MPI_Comm owned);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace straddle::comm
