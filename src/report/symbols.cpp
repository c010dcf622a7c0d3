#include "kinegraph/report/symbols.hpp"

#include <algorithm>

namespace kinegraph::report {

Product times(const Product& a, const Product& b) {
  Product p{a.sign * b.sign, a.symbols};
  p.symbols.insert(p.symbols.end(), b.symbols.begin(), b.symbols.end());
  return p;
}

Sum times(const Product& a, const Sum& b) {
  Sum sum;
  for (const Product& p : b) sum.push_back(times(a, p));
  return sum;
}

std::string text(const Product& product, const Spelling& spelling) {
  std::string out;
  for (const Symbol& s : product.symbols) {
    const auto found = spelling.find(s.name);
    out += (out.empty() ? "" : " ") + (found == spelling.end() ? s.name : found->second);
    if (s.transposed) out += "ᵀ";
    if (s.inverted) out += "⁻¹";
  }
  return out.empty() ? "1" : out;
}

std::string text(const Sum& sum, const Spelling& spelling) {
  std::string out;
  for (const Product& p : sum) {
    std::string piece = text(p, spelling);
    int sign = p.sign;
    if (piece.starts_with("−")) {  // the spelling of a symbol may begin with a minus
      piece.erase(0, std::string("−").size());
      sign = -sign;
    }
    if (out.empty()) {
      out = (sign < 0 ? "−" : "") + piece;
    } else {
      out += (sign < 0 ? " − " : " + ") + piece;
    }
  }
  return out.empty() ? "0" : out;
}

Product Namer::simplify(const Sum& sum, const std::string& name) {
  if (sum.size() == 1) return sum.front();
  // What all products begin and end with stands outside the brackets.
  std::size_t shortest = sum.front().symbols.size();
  for (const Product& p : sum) shortest = std::min(shortest, p.symbols.size());
  const auto same = [&](auto&& pick) {
    return std::all_of(sum.begin(), sum.end(), [&](const Product& p) { return pick(p) == pick(sum.front()); });
  };
  std::size_t head = 0, tail = 0;
  while (head < shortest && same([&](const Product& p) { return p.symbols[head]; })) ++head;
  while (head + tail < shortest && same([&](const Product& p) { return p.symbols[p.symbols.size() - 1 - tail]; })) {
    ++tail;
  }
  const int sign = sum.front().sign;
  Sum inner;
  for (const Product& p : sum) {
    inner.push_back(
        {sign * p.sign, {p.symbols.begin() + static_cast<long>(head), p.symbols.end() - static_cast<long>(tail)}});
  }
  const auto& first = sum.front().symbols;
  Product result{sign, {first.begin(), first.begin() + static_cast<long>(head)}};
  result.symbols.push_back(define(inner, name));
  result.symbols.insert(result.symbols.end(), first.end() - static_cast<long>(tail), first.end());
  return result;
}

Symbol Namer::define(const Sum& sum, const std::string& name) {
  const std::string key = text(sum, {});
  if (const auto found = known_.find(key); found != known_.end()) return {found->second};
  std::string unique = name;
  for (int k = used_[name]++; k > 0; --k) unique += "'";
  known_.emplace(key, unique);
  definitions_.push_back({unique, sum});
  return {unique};
}

}  // namespace kinegraph::report
