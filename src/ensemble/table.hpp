#pragma once

#include "kinegraph/base/progress.hpp"
#include "kinegraph/ensemble/design.hpp"
#include "kinegraph/ensemble/spread.hpp"
#include "kinegraph/io/output.hpp"

namespace kinegraph::ensemble {

/// The table of a finished sweep: a row per case, in their order, whatever the order in which they came. Columns: case,
/// seed, repetition (where there are several), what is varied, the outputs, status, error. Returns how the outputs
/// spread.
Result<std::vector<Spread>> write_table(OutputFile& file, const Study& study, const Design& design, Journal& journal,
                                        const Progress& progress);

/// Whether the study itself says which seed the verb gets.
bool names_seed(const Study& study);

}  // namespace kinegraph::ensemble
