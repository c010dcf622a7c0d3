#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "kinegraph/linear/block_plan.hpp"

/// Systems of the kind that block plans are made for: the equations of bodies and joints, with random numbers.
namespace kinegraph::linear::test {

using Matrix6 = Eigen::Matrix<double, 6, 6>;

/// A structure with its numbers.
struct BlockSystem {
  BlockStructure structure;
  std::vector<Eigen::MatrixXd> numbers;  ///< per entry, of all forms, with the sign
  std::vector<Eigen::VectorXd> right_sides;

  int add_row(int size, const Eigen::VectorXd& right_side) {
    structure.row_size.push_back(size);
    right_sides.push_back(right_side);
    return static_cast<int>(structure.row_size.size()) - 1;
  }
  int add_column(int size, int pivot_row, int level = 0) {
    structure.column_size.push_back(size);
    structure.pivot_row.push_back(pivot_row);
    structure.level.push_back(level);
    return static_cast<int>(structure.column_size.size()) - 1;
  }
  void add(int row, int column, BlockStructure::Form form, const Eigen::MatrixXd& block, std::vector<int> index = {},
           double sign = 1) {
    structure.entries.push_back({row, column, form, std::move(index), sign});
    numbers.push_back(block);
  }

  std::vector<int> offsets(const std::vector<int>& sizes) const {
    std::vector<int> result = {0};
    for (const int size : sizes) result.push_back(result.back() + size);
    return result;
  }
  Eigen::MatrixXd dense() const {
    const auto rows = offsets(structure.row_size), columns = offsets(structure.column_size);
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(rows.back(), columns.back());
    for (std::size_t e = 0; e < numbers.size(); ++e) {
      a.block(rows[structure.entries[e].row], columns[structure.entries[e].column], numbers[e].rows(),
              numbers[e].cols()) = numbers[e];
    }
    return a;
  }
  Eigen::VectorXd right_side() const {
    const auto rows = offsets(structure.row_size);
    Eigen::VectorXd b(rows.back());
    for (std::size_t r = 0; r < right_sides.size(); ++r) b.segment(rows[r], right_sides[r].size()) = right_sides[r];
    return b;
  }

  void write(const BlockPlan& plan, BlockElimination& elimination) const {
    for (std::size_t e = 0; e < numbers.size(); ++e) {
      const int at = plan.entry(structure.entries[e].row, structure.entries[e].column);
      if (at < 0) continue;
      const int stride = BlockPlan::stride(static_cast<int>(numbers[e].rows()));
      for (int c = 0; c < numbers[e].cols(); ++c) {
        for (int r = 0; r < numbers[e].rows(); ++r) {
          elimination.storage()[at + c * stride + r] = structure.entries[e].sign * numbers[e](r, c);
        }
      }
    }
    for (std::size_t r = 0; r < right_sides.size(); ++r) {
      std::copy_n(right_sides[r].data(), right_sides[r].size(),
                  elimination.storage() + plan.right_side(static_cast<int>(r)));
    }
  }
  Eigen::VectorXd solution(const BlockPlan& plan, const BlockElimination& elimination) const {
    const auto columns = offsets(structure.column_size);
    Eigen::VectorXd x(columns.back());
    for (std::size_t c = 0; c + 1 < columns.size(); ++c) {
      std::copy_n(elimination.storage() + plan.solution(static_cast<int>(c)), structure.column_size[c],
                  x.data() + columns[c]);
    }
    return x;
  }
};

inline Eigen::Matrix3d cross(const Eigen::Vector3d& v) {
  return (Eigen::Matrix3d() << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0).finished();
}

inline Matrix6 adjoint(const Eigen::Matrix3d& r, const Eigen::Vector3d& p) {
  Matrix6 x = Matrix6::Zero();
  x.topLeftCorner<3, 3>() = x.bottomRightCorner<3, 3>() = r;
  x.bottomLeftCorner<3, 3>() = cross(p) * r;
  return x;
}

inline Matrix6 inertia(double mass, const Eigen::Vector3d& com, const Eigen::Vector3d& moments) {
  Matrix6 g = Matrix6::Zero();
  g.topLeftCorner<3, 3>() = Eigen::Matrix3d(moments.asDiagonal()) - mass * cross(com) * cross(com);
  g.topRightCorner<3, 3>() = mass * cross(com);
  g.bottomLeftCorner<3, 3>() = -mass * cross(com);
  g.bottomRightCorner<3, 3>() = mass * Eigen::Matrix3d::Identity();
  return g;
}

struct Link {
  int parent = -1;
  std::vector<int> axes = {2};  ///< of the joint, as components of a twist; empty: `freedoms` dense columns
  int freedoms = 1;
  double armature = 0;
  bool driven = false;  ///< acceleration known, torque unknown
  Matrix6 x = Matrix6::Identity(), g = Matrix6::Identity();
  Eigen::MatrixXd s;
};

/// Bodies on joints: columns and rows by body.
struct Tree {
  BlockSystem system;
  std::vector<Link> links;
  std::vector<int> acceleration, wrench, joint;  // columns
  std::vector<int> row_v, row_f, row_t;
  std::mt19937 rng;

  Eigen::VectorXd random(int n) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    return Eigen::VectorXd::NullaryExpr(n, [&] { return uniform(rng); });
  }

  explicit Tree(std::vector<Link> given, unsigned seed) : links(std::move(given)), rng(seed) {
    for (Link& link : links) {
      const Eigen::Vector4d q = random(4);
      link.x = adjoint(Eigen::Quaterniond(q.normalized()).toRotationMatrix(), random(3));
      link.g = inertia(1.5 + random(1)[0], 0.3 * random(3), Eigen::Vector3d(0.3, 0.3, 0.3) + 0.1 * random(3));
      randomise_joint(link);
    }
    build();
  }
  /// The links as they are, x and g given.
  Tree(std::vector<Link> given, unsigned seed, bool) : links(std::move(given)), rng(seed) {
    for (Link& link : links) randomise_joint(link);
    build();
  }

  void randomise_joint(Link& link) {
    const int n = link.axes.empty() ? link.freedoms : static_cast<int>(link.axes.size());
    link.freedoms = n;
    link.s = Eigen::MatrixXd::Zero(6, n);
    for (int k = 0; k < n; ++k) {
      if (link.axes.empty()) {
        link.s.col(k) = random(6);
      } else {
        link.s(link.axes[k], k) = 1;
      }
    }
  }

  void build() {
    using Form = BlockStructure::Form;
    const int n = static_cast<int>(links.size());
    for (const Link& link : links) {
      row_v.push_back(system.add_row(6, random(6)));
      row_f.push_back(system.add_row(6, random(6)));
      row_t.push_back(system.add_row(link.freedoms, random(link.freedoms)));
      acceleration.push_back(system.add_column(6, row_v.back()));
      wrench.push_back(system.add_column(6, row_f.back()));
      joint.push_back(system.add_column(link.freedoms, row_t.back()));
    }
    for (int i = 0; i < n; ++i) {
      const Link& link = links[i];
      system.add(row_v[i], acceleration[i], Form::identity, Matrix6::Identity());
      system.add(row_f[i], wrench[i], Form::identity, Matrix6::Identity());
      system.add(row_f[i], acceleration[i], Form::dense, -link.g);
      if (link.parent >= 0) {
        system.add(row_v[i], acceleration[link.parent], Form::adjoint, -link.x);
        system.add(row_f[link.parent], wrench[i], Form::adjoint_transposed, -link.x.transpose());
      }
      const bool picks = !link.axes.empty();
      system.add(row_t[i], wrench[i], picks ? Form::select_rows : Form::dense, link.s.transpose(), link.axes);
      const Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(link.freedoms, link.freedoms);
      if (link.driven) {
        system.add(row_t[i], joint[i], Form::minus_identity, -unit);
      } else {
        system.add(row_v[i], joint[i], picks ? Form::select_columns : Form::dense, -link.s, link.axes, -1);
        if (link.armature > 0) system.add(row_t[i], joint[i], Form::dense, link.armature * unit);
      }
    }
  }

  /// A joint that closes a loop between two bodies: its wrench and acceleration go to the last front. The right sides
  /// are then those of a random solution, so that redundant rows hold.
  struct Loop {
    int row_a, row_t, wrench, joint;
  };
  Loop close(int a, int b, const Matrix6& x_a, const Matrix6& x_b, const std::vector<int>& axes) {
    using Form = BlockStructure::Form;
    const int n = static_cast<int>(axes.size());
    Eigen::MatrixXd s = Eigen::MatrixXd::Zero(6, n);
    for (int k = 0; k < n; ++k) s(axes[k], k) = 1;
    Loop loop{};
    loop.row_a = system.add_row(6, Eigen::VectorXd::Zero(6));
    loop.row_t = system.add_row(n, Eigen::VectorXd::Zero(n));
    loop.wrench = system.add_column(6, -1, 2);
    loop.joint = system.add_column(n, -1, 2);
    system.add(loop.row_a, acceleration[b], Form::adjoint, x_b);
    system.add(loop.row_a, acceleration[a], Form::adjoint, -x_a);
    system.add(loop.row_a, loop.joint, Form::select_columns, -s, axes, -1);
    system.add(loop.row_t, loop.wrench, Form::select_rows, s.transpose(), axes);
    system.add(row_f[a], loop.wrench, Form::adjoint_transposed, x_a.transpose());
    system.add(row_f[b], loop.wrench, Form::adjoint_transposed, -x_b.transpose());
    const Eigen::MatrixXd matrix = system.dense();
    const Eigen::VectorXd right_side = matrix * random(static_cast<int>(matrix.cols()));
    int at = 0;
    for (auto& part : system.right_sides) {
      part = right_side.segment(at, part.size());
      at += static_cast<int>(part.size());
    }
    return loop;
  }

  using Order = std::vector<std::vector<int>>;
  Order rnea() const {
    Order order;
    const int n = static_cast<int>(links.size());
    for (int i = n - 1; i >= 0; --i) order.push_back({joint[i]});
    for (int i = 0; i < n; ++i) order.push_back({wrench[i]});
    for (int i = n - 1; i >= 0; --i) order.push_back({acceleration[i]});
    return order;
  }
  Order aba() const {
    Order order;
    for (int i = static_cast<int>(links.size()) - 1; i >= 0; --i) {
      for (const int column : {wrench[i], acceleration[i], joint[i]}) order.push_back({column});
    }
    return order;
  }
  Order crba(bool inward = true) const {
    Order order;
    const int n = static_cast<int>(links.size());
    for (int i = 0; i < n; ++i) order.push_back({wrench[inward ? n - 1 - i : i]});
    for (int i = n - 1; i >= 0; --i) order.push_back({acceleration[i]});
    order.push_back(joint);
    return order;
  }
  /// All columns in any order, in groups of up to `largest`.
  Order random_order(unsigned seed, int largest) const {
    std::mt19937 shuffle(seed);
    std::vector<int> all(system.structure.column_size.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
    std::erase_if(all, [&](int c) { return system.structure.level[c] > 0; });
    std::shuffle(all.begin(), all.end(), shuffle);
    Order order;
    for (std::size_t i = 0; i < all.size();) {
      const std::size_t size = 1 + shuffle() % largest;
      order.emplace_back(all.begin() + i, all.begin() + std::min(i + size, all.size()));
      i += size;
    }
    return order;
  }

  /// Σ over bodies of Jᵀ G J, from the definition.
  Eigen::MatrixXd mass_matrix() const {
    int freedoms = 0;
    std::vector<int> first;
    for (const Link& link : links) {
      first.push_back(freedoms);
      freedoms += link.freedoms;
    }
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(freedoms, freedoms);
    std::vector<Eigen::MatrixXd> jacobian;
    for (std::size_t i = 0; i < links.size(); ++i) {
      const Link& link = links[i];
      Eigen::MatrixXd j = Eigen::MatrixXd::Zero(6, freedoms);
      if (link.parent >= 0) j = link.x * jacobian[link.parent];
      j.middleCols(first[i], link.freedoms) += link.s;
      m += j.transpose() * link.g * j;
      m.block(first[i], first[i], link.freedoms, link.freedoms) +=
          link.armature * Eigen::MatrixXd::Identity(link.freedoms, link.freedoms);
      jacobian.push_back(std::move(j));
    }
    return m;
  }
};

inline std::vector<Link> chain(int n) {
  std::vector<Link> links(n);
  for (int i = 0; i < n; ++i) links[i].parent = i - 1;
  return links;
}

/// Two planar arms of `n` links each on the base, hinged at their ends.
inline Tree planar_loop(int n, unsigned seed, bool regular_masses = true) {
  std::vector<Link> links(2 * n);
  Tree random(links, seed);
  for (int i = 0; i < 2 * n; ++i) {
    Link& link = random.links[i];
    link.parent = i == n ? -1 : i - 1;
    const Eigen::VectorXd p = random.random(3);
    link.x = adjoint(Eigen::AngleAxisd(p[0], Eigen::Vector3d::UnitZ()).toRotationMatrix(), {1 + 0.2 * p[1], p[2], 0});
    link.g = inertia(regular_masses ? 1.0 + 0.5 * p[1] : 1e3, {0.3, 0.1 * p[0], 0}, {0.2, 0.3, 0.4});
  }
  Tree tree(random.links, seed + 1, true);
  tree.close(n - 1, 2 * n - 1, adjoint(Eigen::Matrix3d::Identity(), {0.7, 0, 0}),
             adjoint(Eigen::AngleAxisd(0.3, Eigen::Vector3d::UnitZ()).toRotationMatrix(), {0.5, 0.2, 0}), {2});
  return tree;
}

/// Joints of all sorts on random parents.
inline std::vector<Link> mixed_tree(int n, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<Link> links(n);
  for (int i = 0; i < n; ++i) {
    links[i].parent = static_cast<int>(rng() % (i + 1)) - 1;
    switch (rng() % 6) {
      case 0:
        links[i].axes = {5};
        break;
      case 1:
        links[i].axes = {2, 5};
        break;
      case 2:
        links[i].axes = {0, 1, 2};
        break;
      case 3:
        links[i].axes = {}, links[i].freedoms = 2;
        break;
      case 4:
        links[i].axes = {}, links[i].freedoms = 1;
        break;
      default:
        break;
    }
    if (rng() % 3 == 0) links[i].armature = 0.2;
  }
  if (seed % 2 == 0) links[0].axes = {0, 1, 2, 3, 4, 5};
  return links;
}

}  // namespace kinegraph::linear::test
