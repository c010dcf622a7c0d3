#pragma once

namespace kinegraph {

/// The place of a structurally non-zero entry of a sparse matrix.
struct Entry {
  int row = 0, column = 0;
};

}  // namespace kinegraph
