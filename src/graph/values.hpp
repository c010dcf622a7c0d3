#pragma once

#include <Eigen/Core>
#include <initializer_list>
#include <span>
#include <unordered_map>
#include <vector>

#include "kinegraph/graph/key.hpp"
#include "kinegraph/graph/manifold.hpp"
#include "kinegraph/lie/se3.hpp"
#include "kinegraph/lie/so2.hpp"
#include "kinegraph/lie/so3.hpp"

namespace kinegraph {

/// The values of all variables in one contiguous buffer, in the order of insertion. Inserting may move the buffer; once
/// all variables are in, pointers into it stay good (linearisations resolve them once).
class Values {
 public:
  /// Throws std::invalid_argument if the key is there already or the size does not fit the manifold.
  void insert(const Key& key, const Manifold& manifold, std::span<const double> initial);
  void insert(const Key& key, const Eigen::VectorXd& initial);  ///< a variable of R^n
  void insert(const Key& key, double initial) { insert(key, Eigen::VectorXd::Constant(1, initial)); }
  void insert(const Key& key, const SO2& initial);
  void insert(const Key& key, const SO3& initial);
  void insert(const Key& key, const SE3& initial);

  bool contains(const Key& key) const { return index_.contains(key); }
  int find(const Key& key) const;  ///< index of the variable, −1 if there is none

  /// The stored numbers of a variable. Throws std::out_of_range naming the key if there is none.
  std::span<double> at(const Key& key);
  std::span<const double> at(const Key& key) const;
  Eigen::Map<const Eigen::VectorXd> vector(const Key& key) const;
  /// As an element of SO2, SO3 or SE3.
  template <class G>
  G at(const Key& key) const {
    return G::load(checked(key, G::kStored));
  }

  // Variables by index, 0 to count() − 1.
  int count() const { return static_cast<int>(variables_.size()); }
  const Key& key(int i) const { return variables_[i].key; }
  const Manifold& manifold(int i) const { return variables_[i].manifold; }
  double* data(int i) { return buffer_.data() + variables_[i].offset; }
  const double* data(int i) const { return buffer_.data() + variables_[i].offset; }
  int tangent_offset(int i) const { return variables_[i].tangent_offset; }

  int tangent_size() const { return tangent_size_; }  ///< sum over all variables
  std::span<double> buffer() { return buffer_; }
  std::span<const double> buffer() const { return buffer_; }

  /// x ← x ⊕ δ for all variables; δ has tangent_size() numbers, in the order of insertion.
  void retract(const Eigen::Ref<const Eigen::VectorXd>& delta);
  /// The same for some: variable i moves by the part of δ that starts at column[i], or stays if column[i] < 0.
  void retract(const Eigen::Ref<const Eigen::VectorXd>& delta, std::span<const int> column);
  /// δ with this ⊕ δ = other. Throws std::invalid_argument unless both hold the same variables in the same order.
  Eigen::VectorXd local(const Values& other) const;

 private:
  struct Variable {
    Key key;
    Manifold manifold;
    int offset, tangent_offset;
  };
  const double* checked(const Key& key, int stored) const;

  std::vector<double> buffer_;
  std::vector<Variable> variables_;
  std::unordered_map<Key, int> index_;
  int tangent_size_ = 0;
};

}  // namespace kinegraph
