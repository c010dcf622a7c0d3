#include <fmt/format.h>

#include "hdf5_table.hpp"

namespace kinegraph::cli {

Result<std::unique_ptr<ensemble::TableFile>> hdf5_table(OutputFile& file, const std::vector<ensemble::Column>&) {
  return Failure::bad_input(fmt::format(
      "cannot write '{}': this program was built without HDF5 (Debian: libhdf5-dev); say --out FILE.csv", file.path()));
}

}  // namespace kinegraph::cli
