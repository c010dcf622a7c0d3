#pragma once

#include "kinegraph/base/dual.hpp"
#include "kinegraph/linear/lcp.hpp"
#include "kinegraph/mechanics/maximal/contact.hpp"
#include "kinegraph/step/regularized_step.hpp"

namespace kinegraph::step {

/// How surfaces behave, beside the friction and restitution that the model gives them.
struct ContactOptions {
  int directions = 4;         ///< of friction, the first along the slip: a pyramid of so many sides; even
  double compliance = 1e-10;  ///< m/N
  double relaxation = 0;      ///< s, in which a penetration is taken back; 0: two steps
  double recovery = 1;        ///< m/s: the fastest way out of a penetration
  double slowest_bounce = 0;  ///< m/s: slower impacts do not bounce; 0: twice what gravity adds in a step
};

/// One step with contacts: RegularizedStep, whose rows are eliminated first, then normals, friction pyramids and the
/// dry friction of joints as one linear complementarity problem (002, eqs. 2.24 to 2.27)
///
///     w_n = C v⁺ + Σ λ_n + c,           c = gap/h, or (4 γ/h) gap where it is negative
///     w_t = D v⁺ + Σ_t λ_t + E σ        D: directions of friction in the tangent plane
///     w_σ = μ λ_n − Eᵀ λ_t              w ≥ 0, λ ≥ 0, wᵀλ = 0
///
/// A contact that pushes and was approached faster than `slowest_bounce` leaves with C v⁺ ≥ −e C v (Newton's rule).
/// With friction that rule can create energy: then e is reduced until it does not.
class ContactStep {
 public:
  ContactStep(std::shared_ptr<const maximal::Mechanism> mechanism, const maximal::Regularization& regularization,
              const ContactOptions& options = {});

  RegularizedStep& smooth() { return smooth_; }
  const RegularizedStep& smooth() const { return smooth_; }
  const maximal::ContactFinder& finder() const { return finder_; }
  void set_numbers(const Eigen::VectorXd& numbers);

  /// v⁺ from the state (q, v), as RegularizedStep::advance. q⁺ = q ⊞ h v⁺ does not penetrate by more than rounding and
  /// the curvature of the motion.
  bool advance(const double* q, const double* v, const StepInput& input, maximal::Grip* grip, double* after);

  /// After advance(): solves once more with the contacts' impulses given, so that smooth().impulses() and friction()
  /// count them too.
  bool complete(maximal::Grip* grip);

  // ---- of the last advance()
  const std::vector<maximal::Contact>& contacts() const { return contacts_; }
  Eigen::Vector3d impulse(int contact) const;  ///< on body b, in world axes, N s
  const linear::Lemke& complementary() const { return lemke_; }

  /// Directions of the numbers along which v⁺ is differentiated: one column each.
  void set_directions(const Eigen::MatrixXd& directions);
  /// Derivatives of v⁺ at the last advance(), as RegularizedStep::differentiate. Valid while contacts neither close nor
  /// open nor change between sticking and slipping, and slips are not so slow that forces turn them within a step.
  using Matrix = RegularizedStep::Matrix;
  bool differentiate(Matrix& derivative);

 private:
  /// Σ_t over the mobility along it: what friction holds creeps by this share of what would move it.
  static constexpr double kCreep = 1e-6;
  /// A row between two bodies, and what it may do.
  struct BaseRow {
    int a = -1, b = -1;
    double G[12];
  };
  /// One multiplier of the complementarity problem: its impulse along base rows.
  struct Multiplier {
    int row = -1, second = -1;
    double share = 0, second_share = 0;
  };
  int per_contact() const { return 2 + options_.directions; }
  int dry_at(int k) const { return static_cast<int>(contacts_.size()) * per_contact() + 3 * k; }

  void find_contacts(const double* q, const double* v, double h);
  void make_rows(const double* v);
  Eigen::Vector3d slip(const maximal::Contact& contact, const double* v) const;
  double rate(const BaseRow& row, const double* v, int stride) const;
  double mobility(const Multiplier& x, const Multiplier& y) const;
  void make_problem(double h);
  void fill_constants(double h);
  void guess_basis();
  void keep_basis();
  bool solve();
  bool bounce(const double* v, double h);
  double kinetic_energy(const Eigen::VectorXd& velocity);
  void report_grips(maximal::Grip* grip) const;

  template <class T>
  struct Terms;
  template <class T>
  Terms<T> terms(int contact, const maximal::Pose<T>& a, const maximal::Pose<T>& b, const T* com_a, const T* com_b,
                 const T* before) const;
  Terms<Dual<24>> terms_by_state(int contact) const;
  Terms<Dual<1>> terms_along(int contact, int direction) const;
  template <class T>
  void scatter(int contact, const Terms<T>& terms, int k, int column);
  double bound_slope(int contact) const;
  void add_contact_changes(Matrix& derivative);
  bool let_multipliers_answer(const std::vector<char>& basis, Matrix& derivative);

  /// The robot with a load at every body's centre of mass: how contacts act on it.
  static std::shared_ptr<const maximal::Mechanism> loaded(const maximal::Mechanism& mechanism);
  Eigen::VectorXd extended(const Eigen::VectorXd& numbers) const;

  std::shared_ptr<const maximal::Mechanism> mechanism_;
  RegularizedStep smooth_;
  maximal::ContactFinder finder_;
  ContactOptions options_;
  Eigen::VectorXd numbers_;
  Eigen::MatrixXd directions_;
  StepInput input_;  // with the contacts' loads

  Eigen::VectorXd q_, v_;
  std::vector<maximal::Contact> contacts_;
  std::vector<std::pair<double, Eigen::Vector3d>> tangents_;  // the first tangent is along (number · slip + vector)
  std::vector<int> dry_;                                      // freedoms with dry friction
  std::vector<BaseRow> rows_;  // normal and two tangents of each contact, then dry freedoms
  std::vector<Multiplier> multipliers_;
  Matrix response_, response_multipliers_;  // velocities by impulses along the rows
  Eigen::MatrixXd mobility_, matrix_;
  Eigen::VectorXd free_rate_, constant_, multiplier_, base_impulse_, after_, momentum_;
  std::vector<double> bound_;  // per contact: C v⁺ + Σ λ ≥ −bound; in bounce(): how it is changed
  double share_ = 0;           // of restitution
  Matrix changes_, change_multipliers_, constants_;  // derivatives
  linear::Lemke lemke_;
  std::vector<char> basis_;
  std::vector<std::pair<std::uint64_t, int>> known_;  // keys of the last contacts, and where their bits stand
  std::vector<char> known_basis_;
  std::vector<std::pair<int, int>> known_dry_;
};

}  // namespace kinegraph::step
