#pragma once

#include "kinegraph/ensemble/table_file.hpp"

namespace kinegraph::cli {

/// A table as HDF5: one data set per column, all of the same length; numbers that are not there are NaN. The attribute
/// `columns` of the root has the names of the data sets in their order, the attribute `name` of a data set the name of
/// its column (its own has '_' for '/'). The same rows give the same bytes. `file` must stay. Fails where the place is
/// no file, and in a program that was built without HDF5 (hdf5_table_absent.cpp).
Result<std::unique_ptr<ensemble::TableFile>> hdf5_table(OutputFile& file, const std::vector<ensemble::Column>& columns);

}  // namespace kinegraph::cli
