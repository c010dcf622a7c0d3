#include "kinegraph/graph/values.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace kinegraph {
namespace {

template <class G>
std::array<double, G::kStored> stored(const G& element) {
  std::array<double, G::kStored> numbers;
  element.store(numbers.data());
  return numbers;
}

}  // namespace

void Values::insert(const Key& key, const Manifold& manifold, std::span<const double> initial) {
  if (contains(key)) throw std::invalid_argument(fmt::format("{}: is there already", to_string(key)));
  if (static_cast<int>(initial.size()) != manifold.stored()) {
    throw std::invalid_argument(fmt::format("{}: a variable of {} is stored as {} numbers, got {}", to_string(key),
                                            manifold.to_string(), manifold.stored(), initial.size()));
  }
  index_.emplace(key, count());
  variables_.push_back({key, manifold, static_cast<int>(buffer_.size()), tangent_size_});
  buffer_.insert(buffer_.end(), initial.begin(), initial.end());
  tangent_size_ += manifold.tangent();
}

void Values::insert(const Key& key, const Eigen::VectorXd& initial) {
  insert(key, Manifold::real(static_cast<int>(initial.size())),
         {initial.data(), static_cast<std::size_t>(initial.size())});
}
void Values::insert(const Key& key, const SO2& initial) { insert(key, Manifold::so2(), stored(initial)); }
void Values::insert(const Key& key, const SO3& initial) { insert(key, Manifold::so3(), stored(initial)); }
void Values::insert(const Key& key, const SE3& initial) { insert(key, Manifold::se3(), stored(initial)); }

int Values::find(const Key& key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? -1 : found->second;
}

const double* Values::checked(const Key& key, int stored) const {
  const int i = find(key);
  if (i < 0) throw std::out_of_range(fmt::format("{}: no such variable", to_string(key)));
  if (stored > 0 && manifold(i).stored() != stored) {
    throw std::invalid_argument(fmt::format("{}: is a variable of {}", to_string(key), manifold(i).to_string()));
  }
  return data(i);
}

std::span<const double> Values::at(const Key& key) const {
  const double* x = checked(key, 0);
  return {x, static_cast<std::size_t>(manifold(find(key)).stored())};
}

std::span<double> Values::at(const Key& key) {
  const std::span<const double> found = std::as_const(*this).at(key);
  return {buffer_.data() + (found.data() - buffer_.data()), found.size()};
}

Eigen::Map<const Eigen::VectorXd> Values::vector(const Key& key) const {
  const std::span<const double> x = at(key);
  return {x.data(), static_cast<Eigen::Index>(x.size())};
}

void Values::retract(const Eigen::Ref<const Eigen::VectorXd>& delta) {
  for (int i = 0; i < count(); ++i) manifold(i).retract(data(i), delta.data() + tangent_offset(i), data(i));
}

void Values::retract(const Eigen::Ref<const Eigen::VectorXd>& delta, std::span<const int> column) {
  for (int i = 0; i < count(); ++i) {
    if (column[i] >= 0) manifold(i).retract(data(i), delta.data() + column[i], data(i));
  }
}

Eigen::VectorXd Values::local(const Values& other) const {
  bool same = count() == other.count();
  for (int i = 0; same && i < count(); ++i) same = key(i) == other.key(i) && manifold(i) == other.manifold(i);
  if (!same) throw std::invalid_argument("local: the two hold different variables");
  Eigen::VectorXd delta(tangent_size());
  for (int i = 0; i < count(); ++i) {
    manifold(i).local(data(i), other.data(i), delta.data() + tangent_offset(i));
  }
  return delta;
}

}  // namespace kinegraph
