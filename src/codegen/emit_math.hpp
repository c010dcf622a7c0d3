#pragma once

namespace kinegraph::codegen {

/// The same lines in every generated header: sine and cosine without branches, for numbers and for vectors of them.
extern const char* const kGeneratedMath;

}  // namespace kinegraph::codegen
