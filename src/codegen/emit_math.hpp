#pragma once

namespace kinegraph::codegen {

/// The same lines in every generated header: sine and cosine without branches, for numbers and for vectors of them.
extern const char* const kGeneratedMath;

/// After them where an angle is computed by the program itself.
extern const char* const kLateSines;

}  // namespace kinegraph::codegen
