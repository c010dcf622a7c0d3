#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/mechanics/screw/tree.hpp"
#include "kinegraph/step/tableau.hpp"

namespace kinegraph::step {

/// What the motion of a robot follows from.
class Field {
 public:
  virtual ~Field() = default;
  /// Quantities that ride along and act on nothing: work done, impulses.
  virtual int extras() const { return 0; }
  /// v̇ and the rates of the extras at (t, q, v). False: there is no answer.
  virtual bool rates(double t, const double* q, const double* v, double* a, double* extra) = 0;
  /// A step starts from q, with all loops closed.
  virtual void begin_step(const double*) {}
  /// Brings q onto the closed loops and v to velocities that keep them closed; a smooth function of both. False: it
  /// does not get there.
  virtual bool project(double*, double*) { return true; }
  /// An implicit step is off by g = v − v₀ − half · a at (q, v), q moving along with half · v: the change of v that
  /// settles it, as far as the field knows how stiff it is. False: it does not, and −g is taken.
  virtual bool correct(double /*half*/, const double* /*q*/, const double* /*v*/, const double* /*g*/, double*) {
    return false;
  }
};

/// How a step is taken: one of the tableaus, or a scheme that is none.
struct Scheme {
  enum class Kind { explicit_stages, symplectic_euler, implicit_midpoint };
  std::string name = "rk4";
  int order = 4;
  Kind kind = Kind::explicit_stages;
  Tableau tableau{};
};
const std::vector<std::string>& scheme_names();  ///< the tableaus', symplectic-euler, implicit-midpoint
std::optional<Scheme> find_scheme(const std::string& name);

/// Time stepping on the manifold of a robot's q. See lie_stepper.cpp. Allocates when it is made, never after.
class LieStepper {
 public:
  LieStepper(std::shared_ptr<const screw::Tree> tree, Field& field, const Scheme& scheme);

  /// The state to start from; computes its acceleration. Extras start at zero.
  bool start(double t, const double* q, const double* v);
  bool advance(double h);  ///< while h stays the same, t is a multiple of it, without the rounding of a sum

  /// A state to come back to.
  struct State {
    double t = 0, start = 0, h = 0;
    long steps = 0;
    std::vector<double> q, v, a, extra, extra_rate;
  };
  void save(State& state) const;
  void restore(const State& state);
  /// After parts of a step of h from `before`: they are that step.
  void join(const State& before, double h);

  double t() const { return t_; }
  const std::vector<double>& q() const { return q_; }
  const std::vector<double>& v() const { return v_; }
  const std::vector<double>& a() const { return a_; }
  const std::vector<double>& extra() const { return extra_; }
  /// After advance() said no: the state at which it did.
  const std::vector<double>& last_v() const { return stage_v_; }
  /// After advance() said no because its iteration did not converge: the freedom that is farthest off; else −1.
  int unsettled() const { return unsettled_; }
  int iterations() const { return iterations_; }  ///< of the last step; none where the scheme is explicit

 private:
  void count(double h);
  bool take_stages(double h);
  bool take_symplectic_euler(double h);
  bool take_implicit_midpoint(double h);
  void to_increment_rates(const double* delta, double* rate) const;
  bool iterate_midpoint(double h, double share, double& change, double& scale);
  bool finite(const std::vector<double>& x) const;

  std::shared_ptr<const screw::Tree> tree_;
  Field& field_;
  Scheme scheme_;
  double t_ = 0, start_ = 0, h_ = 0;
  long steps_ = 0;
  int iterations_ = 0, unsettled_ = -1;
  std::vector<double> q_, v_, a_, extra_, extra_rate_;
  std::vector<double> stage_q_, stage_v_, delta_, middle_, residual_;
  std::vector<std::vector<double>> rate_q_, rate_v_, rate_x_;  // per stage
};

}  // namespace kinegraph::step
