#include "kinegraph/graph/graph.hpp"

#include <fmt/format.h>
#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <map>

#include "binding.hpp"
#include "kinegraph/base/names.hpp"
#include "kinegraph/graph/check_jacobians.hpp"
#include "kinegraph/solve/covariance.hpp"
#include "kinegraph/solve/optimizer.hpp"
#include "kinegraph/task/open_graph.hpp"
#include "own_factor.hpp"

namespace kinegraph::python {
namespace {

Manifold manifold_of(const std::string& type, int numbers) {
  if (type == "angle") return Manifold::so2();
  if (type == "rotation") return Manifold::so3();
  if (type == "pose") return Manifold::se3();
  if (type == "vector") return Manifold::real(numbers);
  raise(Failure::bad_input(fmt::format("variable: its type must be vector, angle, rotation or pose, is {}{}",
                                       quote(type), did_you_mean(type, {"vector", "angle", "rotation", "pose"}))));
}

/// A graph whose variables have names. Values are kept with it.
class NamedGraph {
 public:
  NamedGraph() = default;
  explicit NamedGraph(build::OpenGraph open)
      : graph_(std::move(open.graph)), values_(std::move(open.values)), coordinates_(std::move(open.coordinates)) {
    for (auto& [name, key] : open.variables) insert(name, key);
  }

  void add_variable(const std::string& name, const Eigen::VectorXd& value, const std::string& type) {
    check_idle();
    if (keys_.contains(name)) raise(Failure::bad_input(fmt::format("variable {} is there already", quote(name))));
    if (value.size() == 0) raise(Failure::bad_input(fmt::format("variable {}: has no numbers", quote(name))));
    const Manifold manifold = manifold_of(type, static_cast<int>(value.size()));
    if (manifold.stored() != value.size()) {
      raise(Failure::bad_input(
          fmt::format("variable {}: {} is {} numbers, found {}", quote(name), type, manifold.stored(), value.size())));
    }
    const Key key{Kind::user, false, kOwn + static_cast<int>(names_.size()), kNoStep};
    values_.insert(key, manifold, {value.data(), static_cast<std::size_t>(value.size())});
    insert(name, key);
  }

  Eigen::VectorXd value(const std::string& name) const { return values_.vector(key(name)); }
  void set_value(const std::string& name, const Eigen::VectorXd& value) {
    const auto place = values_.at(key(name));
    if (static_cast<std::size_t>(value.size()) != place.size()) {
      raise(Failure::bad_input(
          fmt::format("variable {}: has {} numbers, found {}", quote(name), place.size(), value.size())));
    }
    std::copy_n(value.data(), value.size(), place.begin());
  }

  void hold(const std::string& name, bool held) {
    if (held) {
      graph_.known().insert(key(name));
    } else {
      graph_.known().erase(key(name));
    }
  }
  bool held(const std::string& name) const { return graph_.known().contains(key(name)); }

  int add_factor(const std::string& name, const py::function& function, const std::vector<std::string>& variables,
                 const std::string& role, const std::optional<Eigen::MatrixXd>& noise, const std::string& loss,
                 double loss_scale);

  py::dict solve(const std::string& method, int iterations);
  Eigen::MatrixXd covariance(const std::vector<std::string>& variables) const;
  std::string check(int factor, double tolerance) const;

  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& coordinates() const { return coordinates_; }
  std::vector<std::string> factors() const {
    std::vector<std::string> list;
    for (const BoundFactor& f : graph_.factors()) list.push_back(f.factor->name());
    return list;
  }

 private:
  static constexpr int kOwn = 1 << 20;  // elements of own variables: beside those of models

  void insert(const std::string& name, const Key& key) {
    keys_.emplace(name, key);
    names_.push_back(name);
  }
  /// Refuses while another thread solves, or a factor asks within its own evaluation.
  void check_idle() const {
    if (busy_) throw std::runtime_error("this graph is being solved: it can be used when that has ended");
  }
  Key key(const std::string& name) const {
    check_idle();
    const auto found = keys_.find(name);
    if (found != keys_.end()) return found->second;
    raise(Failure::bad_input(fmt::format("unknown variable {}{}", quote(name), did_you_mean(name, names_))));
  }
  std::vector<Key> keys(const std::vector<std::string>& names) const {
    std::vector<Key> found;
    for (const std::string& name : names) found.push_back(key(name));
    return found;
  }

  Graph graph_;
  Values values_;
  std::map<std::string, Key> keys_;
  std::vector<std::string> names_, coordinates_;
  std::shared_ptr<Raised> raised_ = std::make_shared<Raised>();
  mutable bool busy_ = false;  // changed and read by who holds the interpreter's lock
};

/// Holds a graph while it is solved without the interpreter's lock.
class Busy {
 public:
  explicit Busy(bool& busy) : busy_(busy) { busy_ = true; }
  ~Busy() { busy_ = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  bool& busy_;
};

Noise noise_of(const std::optional<Eigen::MatrixXd>& given, int rows, const std::string& name) {
  if (!given) return Noise::unit();
  const Eigen::MatrixXd& m = *given;
  const auto wrong = [&](const std::string& rule) { raise(Failure::bad_input(fmt::format("{}: {}", name, rule))); };
  try {
    if (m.size() == 1) return Noise::isotropic(m(0, 0));
    if (m.cols() == 1 && m.rows() == rows) return Noise::diagonal(m.col(0));
    if (m.rows() == rows && m.cols() == rows) return Noise::full(m);
  } catch (const std::invalid_argument& fault) {
    wrong(fault.what());
  }
  wrong(fmt::format("sigma must be one number, {} numbers, or a covariance of {} × {}", rows, rows, rows));
  return Noise::unit();
}

Loss loss_of(const std::string& shape, double k, const std::string& name) {
  try {
    if (shape == "none") return Loss::none();
    if (shape == "huber") return Loss::huber(k);
    if (shape == "cauchy") return Loss::cauchy(k);
    if (shape == "tukey") return Loss::tukey(k);
    if (shape == "geman-mcclure") return Loss::geman_mcclure(k);
  } catch (const std::invalid_argument& fault) {
    raise(Failure::bad_input(fmt::format("{}: {}", name, fault.what())));
  }
  const std::vector<std::string> valid{"none", "huber", "cauchy", "tukey", "geman-mcclure"};
  raise(Failure::bad_input(fmt::format("{}: unknown loss {}{}", name, quote(shape), did_you_mean(shape, valid))));
}

Role role_of(const std::string& role, const std::string& name) {
  if (role == "cost") return Role::cost;
  if (role == "equality") return Role::equality;
  if (role == "inequality") {
    raise(Failure::bad_input(fmt::format("{}: inequalities are for plans; here take cost or equality", name)));
  }
  raise(Failure::bad_input(fmt::format("{}: role must be cost or equality, is {}{}", name, quote(role),
                                       did_you_mean(role, {"cost", "equality"}))));
}

int NamedGraph::add_factor(const std::string& name, const py::function& function,
                           const std::vector<std::string>& variables, const std::string& role,
                           const std::optional<Eigen::MatrixXd>& noise, const std::string& loss, double loss_scale) {
  if (variables.empty()) raise(Failure::bad_input(fmt::format("{}: connects to no variable", name)));
  std::vector<Key> tied = keys(variables);
  std::vector<Manifold> slots;
  std::vector<py::array> now;
  for (const Key& key : tied) {
    slots.push_back(values_.manifold(values_.find(key)));
    const auto at = values_.at(key);
    now.emplace_back(py::array_t<double>(static_cast<py::ssize_t>(at.size()), at.data()));
  }
  const int rows = OwnFactor::count_rows(name, function, now);
  const Role as = role_of(role, name);
  auto factor = std::make_shared<OwnFactor>(name, function, rows, std::move(slots), raised_);
  return graph_.add(std::move(factor), std::move(tied), as,
                    as == Role::equality ? Noise::unit() : noise_of(noise, rows, name),
                    loss_of(loss, loss_scale, name));
}

py::dict NamedGraph::solve(const std::string& method, int iterations) {
  check_idle();
  OptimizerOptions options;
  const std::map<std::string, Method> methods = {{"gauss-newton", Method::gauss_newton},
                                                 {"levenberg-marquardt", Method::levenberg_marquardt},
                                                 {"dogleg", Method::dogleg}};
  const auto chosen = methods.find(method);
  if (chosen == methods.end()) {
    raise(Failure::bad_input(fmt::format("method: must be gauss-newton, levenberg-marquardt or dogleg, is {}{}",
                                         quote(method),
                                         did_you_mean(method, {"gauss-newton", "levenberg-marquardt", "dogleg"}))));
  }
  options.method = chosen->second;
  options.max_iterations = iterations;
  Interruption interruption;
  options.progress = [&](double) { return !raised_->any() && !interruption.asked(); };
  std::optional<Result<Report>> solved;
  {
    const Busy busy(busy_);
    const py::gil_scoped_release free;
    solved.emplace(optimize(graph_, values_, options));
  }
  raised_->raise_if_any();
  interruption.raise_if_asked();
  const Report report = value_of(*std::move(solved));
  if (!report.converged()) raise(report.failure());
  py::dict found;
  found["status"] = kinegraph::name(report.status);
  found["message"] = report.message;
  found["iterations"] = report.iterations;
  found["cost"] = report.cost_after;
  found["cost_before"] = report.cost_before;
  found["constraint_max"] = report.hard_after;
  found["unknowns"] = report.unknowns;
  found["hard_rows"] = report.hard_rows;
  found["cost_rows"] = report.cost_rows;
  return found;
}

Eigen::MatrixXd NamedGraph::covariance(const std::vector<std::string>& variables) const {
  check_idle();
  const std::vector<Key> wanted = keys(variables);
  std::optional<Result<Eigen::MatrixXd>> found;
  {
    const Busy busy(busy_);
    const py::gil_scoped_release free;
    Result<Covariances> made = Covariances::make(graph_, values_);
    found.emplace(made ? made->joint(wanted) : Result<Eigen::MatrixXd>(made.failure()));
  }
  raised_->raise_if_any();
  return value_of(*std::move(found));
}

/// "" if the derivatives of a factor agree with differences at the present values; else what is wrong.
std::string NamedGraph::check(int factor, double tolerance) const {
  check_idle();
  if (factor < 0 || factor >= graph_.size()) throw py::index_error("there is no such factor");
  const BoundFactor& f = graph_[factor];
  JacobianCheckOptions options;
  options.tolerance = tolerance;
  SlotValues x;
  for (const Key& key : f.keys) {
    const auto at = values_.at(key);
    x.emplace_back(at.begin(), at.end());
    options.manifolds.push_back(values_.manifold(values_.find(key)));
  }
  const JacobianCheck found = check_jacobians(*f.factor, x, options);
  raised_->raise_if_any();
  return found.message;
}

}  // namespace

void bind_graph(py::module_& module) {
  py::class_<NamedGraph>(module, "Graph")
      .def(py::init<>())
      .def_static("pose", [](const Model& model) { return NamedGraph(value_of(task::pose_graph(model))); })
      .def_static("motion",
                  [](const Model& model, double time, double step, bool free_start) {
                    return NamedGraph(value_of(task::motion_graph(model, time, step, free_start)));
                  })
      .def("add_variable", &NamedGraph::add_variable)
      .def("value", &NamedGraph::value)
      .def("set_value", &NamedGraph::set_value)
      .def("hold", &NamedGraph::hold)
      .def("held", &NamedGraph::held)
      .def("add_factor", &NamedGraph::add_factor)
      .def("solve", &NamedGraph::solve)
      .def("covariance", &NamedGraph::covariance)
      .def("check", &NamedGraph::check)
      .def_property_readonly("names", &NamedGraph::names)
      .def_property_readonly("coordinates", &NamedGraph::coordinates)
      .def_property_readonly("factors", &NamedGraph::factors);
}

}  // namespace kinegraph::python
