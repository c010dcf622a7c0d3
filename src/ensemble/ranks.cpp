#include "kinegraph/ensemble/ranks.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace kinegraph::ensemble {
namespace {

namespace fs = std::filesystem;

/// Open MPI, and launchers that speak PMIx or PMI, say so in the environment.
bool started_by_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE"}) {
    if (std::getenv(name)) return true;
  }
  return false;
}

/// Beside the program where it was built, or in the library folder of the place where it was installed.
fs::path find_module() {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& place : {folder, folder / "../lib/kinegraph"}) {
    if (const fs::path file = place / "kinegraph_mpi.so"; fs::exists(file, ignored)) return file;
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Ranks>> join_ranks() {
  if (!started_by_mpi()) return std::unique_ptr<Ranks>();
  const fs::path file = find_module();
  if (file.empty()) {
    return Failure::bad_input(
        "started by mpirun, but kinegraph was built without MPI: there is no kinegraph_mpi.so beside it");
  }
  void* module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!module) return Failure::bad_input(std::string("cannot load the module for MPI: ") + ::dlerror());
  const auto join = reinterpret_cast<JoinMpi>(::dlsym(module, kJoinMpi));
  if (!join) return Failure::bad_input({file.string(), 0, 0}, "is no module of this kinegraph");
  std::unique_ptr<Ranks> ranks(join());
  if (!ranks) return Failure::bad_input("this MPI was built without threads: it must give MPI_THREAD_SERIALIZED");
  return ranks;
}

}  // namespace kinegraph::ensemble
