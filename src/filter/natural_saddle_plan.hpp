#pragma once

namespace kinegraph::filter {

/// Some elements of an array. No library code: the kernels that read it are compiled several times, see
/// natural_packet.hpp.
template <class T>
struct PlainList {
  const T* first = nullptr;
  int count = 0;
  [[gnu::always_inline]] const T* begin() const { return first; }
  [[gnu::always_inline]] const T* end() const { return first + count; }
  [[gnu::always_inline]] const T& operator[](int i) const { return first[i]; }
};

/// How the augmented system of a mechanism is eliminated (natural_saddle.hpp): the same at every pose.
struct SaddlePlan {
  struct Pair {                              // a relative coordinate and its row
    int coordinate, row, pivot, begin, end;  // pivot: place of g in Φ_q; begin, end: in pair_entry
  };
  struct PairEntry {
    int value, coordinate;
  };
  struct Coupling {  // a row that reads a substituted coordinate
    int row, pair, value;
  };
  struct Fill {  // reduced[to] −= Φ_q[value] Φ_q[other] / g
    int to, value, other, pair;
  };
  struct Product {  // lower[to] += w a b
    int to, a, b;
    double weight;
  };
  struct Column {
    int variable, diagonal, begin, end;  // begin, end: places below the diagonal
  };

  PlainList<Pair> pairs;
  PlainList<PairEntry> pair_entry;
  PlainList<Coupling> couplings;
  PlainList<int> reduced_source, scatter;
  PlainList<Fill> fills;
  PlainList<Product> products;
  PlainList<Column> columns;
  PlainList<int> place_variable, target;
  PlainList<double> base;         // M in its places
  PlainList<double> sign, least;  // of the pivots
  PlainList<double> inertia;      // by coordinate: what scales it
  bool dense = false;
};

}  // namespace kinegraph::filter
