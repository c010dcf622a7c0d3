#pragma once

#include <memory>
#include <string>

#include "kinegraph/base/result.hpp"

namespace kinegraph::ensemble {

/// The processes of one sweep across machines, and messages between them. Who has rank 0 hands out the work.
class Ranks {
 public:
  struct Message {
    int from = 0;
    std::string bytes;
  };

  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void send(int to, const std::string& bytes) = 0;
  virtual bool receive(Message& message) = 0;  ///< without waiting; false if there is none
};

/// The ranks of the `mpirun` (or `srun`) that started this process; null where none did. MPI is a module of its own,
/// loaded only then: the program runs where there is no MPI.
Result<std::unique_ptr<Ranks>> join_ranks();

/// What the module exports, by this name. It gives null where MPI cannot be called by one thread after the other.
inline constexpr const char* kJoinMpi = "kinegraph_join_mpi";
using JoinMpi = Ranks* (*)();

}  // namespace kinegraph::ensemble
