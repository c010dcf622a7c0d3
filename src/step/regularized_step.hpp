#pragma once

#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <array>
#include <memory>
#include <vector>

#include "kinegraph/linear/lcp.hpp"
#include "kinegraph/mechanics/maximal/joint_slopes.hpp"

namespace kinegraph::step {

/// What is known of a step beside the state: forces about the time at which it begins.
struct StepInput {
  double h = 1e-3;
  Eigen::VectorXd torque, control;             ///< per freedom of the mechanism
  Eigen::VectorXd reference;                   ///< per freedom: near its position, to which angles are continued
  Eigen::VectorXd target;                      ///< per freedom: of driven ones, the position at the end of the step
  std::vector<Eigen::Vector3d> force, moment;  ///< per load, in world axes

  StepInput() = default;
  StepInput(const maximal::Mechanism& mechanism, double h);  ///< all zero
};

/// One step of the regularised stepper (002, section 2.3, as corrected), without contacts.
///
///     [M + BᵀDB  −Gᵀ] [v⁺]   [M v′ + h f + …]
///     [G          Σ ] [λ ] = [−g/(h + τ) − c]             |μᵢ| ≤ h τ_dry,i: dry friction, which may hold a freedom
///
/// c(v⁺) makes constraints hold at the end of the step (maximal::Regularization). D: maximal::Damping and the like.
/// v′ is v turned on by the gyroscopic term (implicit midpoint). Dry friction is a linear complementarity problem in
/// its freedoms alone. v⁺ is differentiable: by q, v, and along directions of the mechanism's numbers.
/// Allocates when made, when the number of directions or of rubbing freedoms changes, and in two rare or large cases:
/// where Lemke's method has to decide what sticks, where several freedoms stick, and in systems large enough to be
/// sparse.
class RegularizedStep {
 public:
  RegularizedStep(std::shared_ptr<const maximal::Mechanism> mechanism, const maximal::Regularization& regularization);

  const maximal::Mechanism& mechanism() const { return *mechanism_; }
  std::shared_ptr<const maximal::Mechanism> shared_mechanism() const { return mechanism_; }
  const maximal::Regularization& regularization() const { return regularization_; }

  /// Masses, lengths, friction: to be said once, and again when they change.
  void set_numbers(const Eigen::VectorXd& numbers);

  /// v⁺ from the state (q, v). `grip`: in, a guess of what each freedom does (the last step's); out, what it does.
  /// `guess`: near v⁺, if something is known of it: saves half of the work. False if no finite answer was found.
  bool advance(const double* q, const double* v, const StepInput& input, maximal::Grip* grip, double* after,
               const double* guess = nullptr);

  // ---- of the last advance()
  const Eigen::VectorXd& after() const { return after_; }
  const Eigen::VectorXd& impulses() const { return lambda_; }      ///< per constraint row, N s (N m s)
  const Eigen::VectorXd& friction() const { return friction_; }    ///< per freedom: impulse of dry friction
  const Eigen::VectorXd& violation() const { return violation_; }  ///< per constraint row: g(q)
  const Eigen::VectorXd& position() const { return position_; }    ///< per freedom: within half a turn of its reference
  const Eigen::VectorXd& rate() const { return rate_; }            ///< per freedom, before the step
  const maximal::FreedomStep& freedom(int f) const { return steps_[f]; }  ///< what its impulse is made of
  double spring_mobility(int spring) const { return spring_mobility_[spring]; }

  /// Directions of the numbers along which v⁺ is differentiated: one column each.
  void set_directions(const Eigen::MatrixXd& directions);
  /// Derivatives of v⁺ at the last advance(): [by q (6 per body) | by v | along the directions], 6 per body rows.
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  void differentiate(Matrix& derivative);

  /// M x, body by body; M is diagonal in blocks of 3.
  void multiply_mass(const double* x, double* out) const;

  // ---- the linear system of the last advance(), for contacts: K = [M + BᵀDB, −Gᵀ; G, Σ], dry friction left out
  /// x = K⁻¹ (b, 0): how velocities answer to impulses, one column each; in place. `multipliers`: those of all rows.
  void respond(Matrix& impulses, Matrix& multipliers);
  const Eigen::VectorXd& free_velocity() const { return free_; }  ///< v⁺ without dry friction; not after a guess
  const maximal::Row<double>& freedom_row(int freedom) const { return freedom_rows_[freedom]; }
  double dry_impulse(int freedom) const { return dry_[freedom]; }  ///< the largest: h τ_dry

 private:
  /// A row of [G; √w B] between two bodies: of a constraint, of a freedom (what grows with its rate), of a drive, of a
  /// spring (its damping).
  struct SystemRow {
    int a = -1, b = -1;
    double G[12] = {};
    double softness = 1;
  };
  /// The row of a freedom, or of a spring, stands for impulses −w ω⁺. It is scaled by s:   s B v⁺ + (s²/w) y = 0
  struct RateRow {
    double drag = 0;    // D
    double weight = 0;  // w: D, and 1/Σ where dry friction holds
    double scale = 0;   // s
    double hold = 1;    // Σ of a freedom that is held
    double mobility = 0;
  };
  int freedom_at(int freedom) const { return mechanism_->rows() + freedom; }
  int drive_at(int drive) const { return mechanism_->rows() + freedoms() + drive; }
  int spring_at(int spring) const { return drive_at(static_cast<int>(drives_.size())) + spring; }
  int freedoms() const { return static_cast<int>(mechanism_->freedoms().size()); }

  template <class T>
  maximal::Pose<T> pose(int body, int first = -1, bool shifts = true) const;
  const double* com(int body) const;
  double mass(int body) const { return numbers_[mechanism_->bodies()[body].numbers + maximal::BodyNumbers::mass]; }
  double mobility(int a, int b, const double* G) const;  // G M⁻¹ Gᵀ
  void find_mobilities();
  void set_poses(const double* q);
  void divide_by_mass(int body, const double* x, double* out) const;
  double rate_after(int freedom, const double* v, int stride) const;
  static double rate_along(const SystemRow& row, const double* G, const double* v, int stride);
  Eigen::Vector3d joint_force(int joint) const;
  void assemble(const double* v, const StepInput& input, bool turned);
  void add_joint(int joint, const double* v, const StepInput& input);
  void add_forces(const double* v, const StepInput& input);
  void weigh_freedom(int freedom, bool held);
  static void weigh(RateRow& its, const double* G, SystemRow& row);
  void add_spring(int spring, const double* v);
  void factor();
  void place_rows();
  void factor_dense();
  void factor_sparse();
  void solve(double* velocity, double* multiplier, int columns);  // in: impulses and right-hand sides of rows
  // The same of padded_n_ and padded_m_ rows, and columns in fours
  void solve_padded(double* velocity, double* multiplier, int columns) const;
  void solve_rows(double* multiplier, int columns) const;
  double meeting(const double* mobile, int i, int j) const;
  void subtract_motion(const std::vector<std::array<double, 12>>& mobile, const double* velocity, double* multiplier,
                       int columns) const;
  void move_by(double* velocity, const double* multiplier, int columns, bool at_end = false) const;
  void solve_one_at_end(double* velocity, double* multiplier) const;
  void factor_at_end();
  void solve_at_end(double* velocity, double* multiplier, int columns);  // as solve()
  void solve_at_end_padded(double* velocity, double* multiplier, int columns) const;
  template <class Solve>
  void pad(double* velocity, double* multiplier, int columns, const Solve& solve);
  bool respond_to_loads(maximal::Grip* grip);
  bool is_near(const double* guess) const;
  bool advance_from(const double* guess, maximal::Grip* grip);
  bool hold_at_end(maximal::Grip* grip, bool balanced);
  void find_end();
  void find_endings();
  Eigen::Vector3d spin_impulse(int body) const;
  double spin_left() const;
  void linearize_spin(int body, bool slope);
  double rate_along(const std::vector<std::array<double, 12>>& rows, int row) const;
  void find_friction_answer();
  void solve_with_friction();
  void push_along(const SystemRow& row, const double* G, Matrix& velocity, int column) const;
  void push_along_freedoms(Matrix& velocity, int first) const;
  void find_mobility();
  bool is_loaded() const;
  void choose_dry(maximal::Grip* grip);
  maximal::Pose<double> end(int body) const { return body < 0 ? maximal::Pose<double>() : ends_[body]; }
  void prepare_friction(maximal::Grip* grip);
  bool settle(const Eigen::VectorXd& free, const Eigen::VectorXd& free_lambda, maximal::Grip* grip);
  void divide_by_mass(double* velocity, int columns, bool at_end = false) const;
  bool try_grips(maximal::Grip* grip);
  bool pivot_grips(maximal::Grip* grip);
  void find_loads();
  void apply_friction(const maximal::Grip* grip);

  /// What is left of a joint's equations.
  template <class T>
  struct JointBalance {
    T impulse[12], left[6], held[3], driven[3];
  };
  void fill_columns(const Eigen::VectorXd& after, const Eigen::VectorXd& lambda);
  void body_columns(int body);
  template <int N>
  void joint_columns_by_pose(int joint, bool shifts);
  void joint_columns_by_velocity(int joint);
  void bend_by_velocity(int joint);
  void closed_columns(int joint);
  void add_closed_columns(int joint, const maximal::JointSlopes& slopes, int side);
  void joint_column(int joint, int direction);
  void freedom_column(int joint, int direction);
  void find_freedom_slopes();
  double held_share(int freedom) const;
  void spring_columns(int spring);
  void load_columns(int load);
  void find_load_changes();
  void add_load_changes();
  maximal::JointStep joint_step(int joint, double* after) const;
  template <class T, class Numbers>
  void balance_joint(int joint, const Numbers& number, const maximal::Pose<T>& a, const maximal::Pose<T>& b,
                     JointBalance<T>& out) const;
  template <class T>
  void scatter_joint(int joint, const JointBalance<T>& left, int k, int column);

  std::shared_ptr<const maximal::Mechanism> mechanism_;
  maximal::Regularization regularization_;
  int n_ = 0, m_ = 0;                // velocities, rows
  int padded_n_ = 0, padded_m_ = 0;  // the same in fours
  bool sparse_ = false;

  Eigen::VectorXd numbers_;
  std::vector<Eigen::Matrix3d> inertia_, inverse_inertia_;
  Eigen::VectorXd freedom_mobility_, spring_mobility_;
  std::vector<int> drives_;      // freedoms that are driven
  std::vector<int> drive_rows_;  // per freedom: the row of its drive, or −1

  // of the step at hand
  double h_ = 0, gamma_ = 0, correction_ = 0, curved_ = 0;
  std::vector<maximal::Pose<double>> poses_, ends_;   // at the start of the step and at its end
  std::vector<Eigen::Matrix3d> turns_, turned_axes_;  // from one to the other; axes at the end, times its Jᵣ
  struct JointFrames {
    maximal::Frame<double> F, M;
  };
  std::vector<JointFrames> end_frames_;                           // per joint, at the end
  std::vector<std::array<double, 12>> endings_, mobile_endings_;  // (∂g⁺/∂v⁺)/h of constraints where they were
                                                                  // linearised last; A⁺ M⁻¹ of all rows
  std::vector<maximal::Grip> tried_;                              ///< grips before a guess is tried
  Eigen::VectorXd factored_at_;  ///< v⁺ where the search for this step factored last, …
  bool factored_ = false;        ///< … if it did
  Eigen::VectorXd before_, after_, free_, again_, lambda_, free_lambda_, again_lambda_, friction_, violation_, end_,
      given_, position_, rate_, dry_;
  std::vector<maximal::Row<double>> freedom_rows_;
  std::vector<RateRow> weights_, spring_weights_;
  std::vector<std::array<double, 12>> spring_rows_;  // B
  std::vector<maximal::FreedomStep> steps_;
  std::vector<SystemRow> rows_;
  std::vector<std::array<double, 12>> mobile_rows_;  // G M⁻¹
  std::vector<Eigen::Vector3d> force_, moment_;
  Eigen::VectorXd impulse_, right_;    // of the system
  std::vector<Eigen::Vector3d> spun_;  // ω′ of each body
  /// h m × J m of a body as the system has it, c + S ω⁺; (J + S)⁻¹
  struct Spin {
    Eigen::Vector3d at_rest;
    Eigen::Matrix3d by_after, inverse;
  };
  std::vector<Spin> spins_;
  Matrix across_, mobile_;  // Aᵀ and A M⁻¹, where S is dense
  Matrix factor_;           // U of S = Uᵀ U, where it is dense; its diagonal is that of U⁻¹
  Eigen::VectorXd ones_;
  Matrix padded_velocity_, padded_multiplier_;  // of solve()
  Eigen::SparseMatrix<double> pattern_;
  Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> simplicial_;
  std::vector<std::pair<int, int>> coupled_;  // rows that share a body: i ≥ j

  // friction
  std::vector<int> dry_freedoms_;
  Matrix answer_, answer_multipliers_;  // velocities by impulses along dry freedoms
  Eigen::MatrixXd mobility_;            // rates of dry freedoms by the same
  Eigen::VectorXd slack_, held_impulse_;
  std::vector<int> held_;
  Eigen::MatrixXd held_matrix_;
  Eigen::VectorXd held_right_;
  linear::Lemke lemke_;

  // derivatives
  Eigen::MatrixXd directions_;
  std::vector<std::vector<int>> body_directions_, joint_directions_, freedom_directions_, spring_directions_,
      load_directions_;
  Matrix impulse_columns_, right_columns_, load_changes_;
  bool at_end_ = false;  // which equations are differentiated
  Matrix mobile_end_;    // A⁺ M′⁻¹ where S is dense
  Matrix end_factor_;
  std::vector<int> end_pivots_;
  Eigen::SparseMatrix<double> end_pattern_;
  Eigen::SparseLU<Eigen::SparseMatrix<double>> end_sparse_;
  std::vector<maximal::FreedomStep> keep_;
  std::vector<maximal::FreedomSlopes> freedom_slopes_;
  const Eigen::VectorXd *fixed_after_ = nullptr, *fixed_lambda_ = nullptr;
};

}  // namespace kinegraph::step
