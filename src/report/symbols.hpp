#pragma once

#include <map>
#include <string>
#include <vector>

namespace kinegraph::report {

/// A matrix or vector with a name, perhaps transposed or inverted: X3ᵀ, D2⁻¹, b1.
struct Symbol {
  std::string name;
  bool transposed = false, inverted = false;

  bool operator==(const Symbol&) const = default;
};

/// ± a product of symbols; none is the identity.
struct Product {
  int sign = 1;
  std::vector<Symbol> symbols;

  bool operator==(const Product&) const = default;
};

using Sum = std::vector<Product>;

Product times(const Product& a, const Product& b);
Sum times(const Product& a, const Sum& b);

/// How symbols are written: some have a longer form, "X2" is "Ad(T2,1)".
using Spelling = std::map<std::string, std::string>;
std::string text(const Product& product, const Spelling& spelling);  ///< without its sign
std::string text(const Sum& sum, const Spelling& spelling);          ///< "G2 + X3ᵀ G3 X3", "0"

/// Gives names to sums, so that what follows stays products. The same sum has the same name, whatever stands before and
/// behind it: A1ᵀ G2 + A1ᵀ X3ᵀ G3 X3 becomes A1ᵀ I2 with I2 = G2 + X3ᵀ G3 X3.
class Namer {
 public:
  struct Definition {
    std::string name;
    Sum sum;
  };

  /// The sum as one product. A sum of one product stays as it is; else `name` is for what is in its brackets.
  Product simplify(const Sum& sum, const std::string& name);
  /// Names the sum even if it is one product.
  Symbol define(const Sum& sum, const std::string& name);
  const std::vector<Definition>& definitions() const { return definitions_; }

 private:
  std::vector<Definition> definitions_;
  std::map<std::string, std::string> known_;  // text of a sum: its name
  std::map<std::string, int> used_;           // name: how often
};

}  // namespace kinegraph::report
