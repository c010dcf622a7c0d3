// The module that joins a sweep across machines. Loaded only by a process that mpirun started.
#define OMPI_SKIP_MPICXX 1  // its C++ interface is of the past
#include <mpi.h>

#include <memory>

#include "kinegraph/ensemble/ranks.hpp"

namespace {

constexpr int kTag = 1;

class MpiRanks final : public kinegraph::ensemble::Ranks {
 public:
  MpiRanks() {
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given_);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiRanks() override { MPI_Finalize(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  bool takes_threads() const { return given_ >= MPI_THREAD_SERIALIZED; }

  void send(int to, const std::string& bytes) override {
    MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, kTag, MPI_COMM_WORLD);
  }

  bool receive(Message& message) override {
    int there = 0, size = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &there, &status);
    if (!there) return false;
    MPI_Get_count(&status, MPI_BYTE, &size);
    message.from = status.MPI_SOURCE;
    message.bytes.resize(static_cast<std::size_t>(size));
    MPI_Recv(message.bytes.data(), size, MPI_BYTE, message.from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return true;
  }

 private:
  int given_ = MPI_THREAD_SINGLE, rank_ = 0, size_ = 1;
};

}  // namespace

extern "C" kinegraph::ensemble::Ranks* kinegraph_join_mpi() {
  auto ranks = std::make_unique<MpiRanks>();
  return ranks->takes_threads() ? ranks.release() : nullptr;
}
