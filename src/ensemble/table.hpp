#pragma once

#include "kinegraph/base/progress.hpp"
#include "kinegraph/ensemble/design.hpp"
#include "kinegraph/ensemble/spread.hpp"
#include "kinegraph/ensemble/table_file.hpp"

namespace kinegraph::ensemble {

/// What a table shows at a glance.
struct TableSummary {
  std::vector<Spread> spreads;  ///< of the outputs
  std::uint64_t warned = 0;     ///< cases with warnings
  std::uint64_t first = 0;      ///< the first of these, and its first warning
  std::string warning;
};

/// The columns of a sweep's table: case, seed, repetition (where there are several), what is varied, the outputs,
/// status, error, warnings (how many). `texts`: which outputs are texts; where the kinds of columns do not matter, none
/// is needed.
std::vector<Column> table_columns(const Study& study, const std::vector<bool>& texts = {});

/// Which outputs are texts in some case: a column of HDF5 has one type.
Result<std::vector<bool>> text_outputs(const Study& study, Journal& journal, const Progress& progress);

/// The rows of a finished sweep, one per case, in their order, whatever the order in which they came.
Result<TableSummary> write_table(TableFile& table, const Study& study, const Design& design, Journal& journal,
                                 const Progress& progress);

/// Whether the study itself says which seed the verb gets.
bool names_seed(const Study& study);

}  // namespace kinegraph::ensemble
