#pragma once

#include <span>
#include <vector>

namespace kinegraph::linear {

/// A dense symmetric matrix of which the first `candidates` unknowns are to be eliminated, the others not yet. Lower
/// triangle, column-major; `stride` ≥ size + 4, a multiple of 4, and 4 columns of room behind the last.
struct HorizonFront {
  double* a = nullptr;
  int size = 0, stride = 0, candidates = 0;
  std::span<int> id;                           ///< per row: which unknown; moves along with it
  std::span<const double> scale;               ///< by id: the largest entry of its row as it came in
  double threshold = 0.01;                     ///< u
  bool last = false;                           ///< nothing comes later: whatever is left must be eliminated here
  double *diagonal = nullptr, *off = nullptr;  ///< D by pivot; `off`: coupling of a pair, at its first, else 0
};

/// What an elimination found.
struct HorizonInertia {
  int positive = 0, negative = 0, zero = 0;  ///< pivots by sign
  bool finite = true;

  void add(const HorizonInertia& o) {
    positive += o.positive, negative += o.negative, zero += o.zero;
    finite = finite && o.finite;
  }
};

/// P A Pᵀ = L D Lᵀ of the candidates with 1×1 and 2×2 pivots, as far as they are stable:
///
///     |L| ≤ 1/u for every entry
///
/// A candidate without a stable pivot among the candidates (a hard row whose variables all come later; a variable
/// without curvature) is passed on: it ends up behind the eliminated ones and before the rest. Returns how many were
/// eliminated. Their columns hold L (unit diagonal implied); the trailing triangle the Schur complement. Where `last`,
/// all are, and a pivot that is rounding beside its row counts as zero and takes no part (D = 0).
class HorizonPivoting {
 public:
  int eliminate(HorizonFront& front, HorizonInertia& inertia);

 private:
  bool step();
  void load(int c, double* w) const;
  void accept_single(const double* w);
  void accept_pair(const double* w1, const double* w2);
  void exchange(int i, int j);
  void flush();

  HorizonFront* f_ = nullptr;
  HorizonInertia* inertia_ = nullptr;
  int at_ = 0, block_ = 0, end_ = 0;  // next pivot; first of the block not yet applied; active candidates end here
  bool forced_ = false;
  std::vector<double> w1_, w2_, y_;  // y_: D Lᵀ of the block
};

}  // namespace kinegraph::linear
