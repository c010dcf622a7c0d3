#include "kinegraph/codegen/search.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kinegraph::codegen {
namespace {

using build::ScrewOrder;
using build::ScrewProblem;
using What = ScrewProblem::What;

constexpr double kSmallest = 1e-8;  // relative pivot where loops are closed
constexpr long kAll = 1500;         // members of the family that are all tried
constexpr int kFar = 100'000;       // expressions of an order that may be given up,
constexpr int kFarMore = 20;        // and how many times the operations of the best these are
constexpr long kWork = 1'200'000;   // operations traced in a guided search, about a second

/// A member of the family: for each unknown θ̈ how many bodies it waits beyond its own.
using Delays = std::vector<int>;

class Search {
 public:
  Search(const ScrewProblem& problem, const Request& request)
      : problem_(problem), tree_(*problem.tree), request_(request) {
    request_.options.goes_on = [this](int expressions) { return goes_on(expressions); };
    for (int c = 0; c < static_cast<int>(tree_.coordinates().size()); ++c) {
      const int v = problem.find(What::acceleration, c);
      if (problem.variables[v].known || problem.variables[v].level > 0) continue;
      variables_.push_back(v);
      ways_.push_back(way_of(c));
    }
    for (const auto& way : ways_) members_ = std::min(kAll + 1, members_ * static_cast<long>(way.size() + 1));
  }

  Result<Candidate> run(std::vector<Generated::Tried>& tried, int& searched) {
    std::vector<std::string> names = build::screw_order_names();
    std::erase_if(names, [](const std::string& name) { return name == "custom" || name == "rnea"; });
    for (const std::string& name : names) tried.push_back({name, 0});
    // of large robots ABA first: its operations grow with the number of bodies alone, and others are measured by it
    if (members_ > kAll)
      std::stable_partition(names.begin(), names.end(), [](const auto& name) { return name == "aba"; });
    for (const std::string& name : names) {
      const Result<ScrewOrder> order = build::screw_order(problem_, name);
      if (!order) return order.failure();
      const bool fine = consider(name, *order);
      const auto its = std::find_if(tried.begin(), tried.end(), [&](const auto& t) { return t.ordering == name; });
      its->flops = fine ? last_ : given_up_ ? Generated::Tried::kGivenUp : Generated::Tried::kNoCode;
    }
    if (members_ <= kAll) {
      all_of_them();
    } else {
      downhill();
    }
    searched = searched_;
    if (stopped_) return Failure::interrupted();
    if (best_.flops == 0) return *why_not_;
    return std::move(best_);
  }

 private:
  /// Bodies from the one that moves by coordinate c to the ground.
  std::vector<int> way_of(int c) const {
    std::vector<int> way;
    for (int i = 0; i < static_cast<int>(tree_.bodies().size()); ++i) {
      if (tree_.bodies()[i].joint.coordinate != c) continue;
      for (int b = i; b >= 0; b = tree_.bodies()[b].parent) way.push_back(b);
      break;
    }
    return way;
  }

  ScrewOrder member(const Delays& delays) const {
    ScrewOrder order;
    const auto put = [&](int v) {
      if (!problem_.variables[v].known && problem_.variables[v].level == 0) order.push_back({v});
    };
    for (int c = static_cast<int>(tree_.coordinates().size()) - 1; c >= 0; --c) put(problem_.find(What::torque, c));
    for (int i = static_cast<int>(tree_.bodies().size()) - 1; i >= 0; --i) {
      put(problem_.find(What::wrench, i));
      put(problem_.find(What::twist_acceleration, i));
      for (std::size_t k = variables_.size(); k-- > 0;) {
        if (delays[k] < static_cast<int>(ways_[k].size()) && ways_[k][delays[k]] == i) put(variables_[k]);
      }
    }
    for (std::size_t k = variables_.size(); k-- > 0;) {
      if (delays[k] == static_cast<int>(ways_[k].size())) put(variables_[k]);
    }
    return order;
  }

  /// Keeps it if it is better. False: there is no code in this order.
  bool consider(const std::string& name, const ScrewOrder& order) {
    stopped_ = stopped_ || (request_.progress && !request_.progress(share()));
    if (stopped_) return false;
    ++searched_;
    given_up_ = false;
    Result<Program> program = trace_checked(problem_, request_, order);
    if (given_up_ || stopped_) return false;
    if (!program) {
      why_not_ = program.failure();
      return false;
    }
    last_ = std::max(1, program->cost().flops());
    work_ += last_;
    if (best_.flops == 0 || last_ < best_.flops) best_ = {name, order, std::move(*program), last_};
    return true;
  }
  /// While an order is traced. One that takes far more than the best is given up: of a chain of 300 links CRBA would
  /// take minutes and gigabytes, where ABA takes half a second.
  bool goes_on(int expressions) {
    stopped_ = stopped_ || (request_.progress && !request_.progress(share()));
    given_up_ = best_.flops > 0 && expressions > std::max(kFar, kFarMore * best_.flops);
    return !stopped_ && !given_up_;
  }
  double share() const {
    const double done =
        members_ <= kAll ? searched_ / static_cast<double>(members_ + 8) : static_cast<double>(work_) / kWork;
    return std::min(1.0, done);
  }

  bool improves(const Delays& delays) {
    const int before = best_.flops;
    return consider("found", member(delays)) && (before == 0 || best_.flops < before);
  }

  void all_of_them() {
    Delays delays(variables_.size(), 0);
    while (!stopped_) {
      std::size_t k = 0;
      while (k < delays.size() && delays[k] == static_cast<int>(ways_[k].size())) delays[k++] = 0;
      if (k == delays.size()) return;
      ++delays[k];
      improves(delays);
    }
  }

  void downhill() {
    Delays delays(variables_.size(), 0);
    improves(delays);
    for (bool better = true; better && work_ < kWork;) {
      better = false;
      for (std::size_t k = delays.size(); k-- > 0 && work_ < kWork && !stopped_;) {
        const int now = delays[k], last = static_cast<int>(ways_[k].size());
        for (const int other : {now + 1, now + 2, now - 1, last}) {
          if (other < 0 || other > last || other == delays[k]) continue;
          Delays next = delays;
          next[k] = other;
          if (improves(next)) delays = next, better = true;
        }
      }
    }
  }

  const ScrewProblem& problem_;
  const screw::Tree& tree_;
  Request request_;
  std::vector<int> variables_;
  std::vector<std::vector<int>> ways_;
  Candidate best_;
  std::optional<Failure> why_not_;
  bool stopped_ = false, given_up_ = false;
  int searched_ = 0, last_ = 0;
  long work_ = 0, members_ = 1;
};

}  // namespace

Result<Program> trace_checked(const ScrewProblem& problem, const Request& request, const ScrewOrder& order) {
  Result<Program> program = trace_dynamics(problem, request.problem, order, request.options);
  if (!program) return program.failure();
  *program = simplified(*program);
  if (program->inputs.size() < 3) return program;  // the mass matrix of the spanning tree
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(problem.tree->freedoms());
  for (const Eigen::VectorXd& q : request.options.closed) {
    const double pivot = evaluate(*program, {q.data(), rest.data(), rest.data()}).back()[0];
    if (pivot > kSmallest) continue;
    return Failure::no_answer(fmt::format(
        "no straight-line code: where the loops are closed the smallest pivot of the elimination is {:.1e} of its "
        "usual size (the position is singular); inverse, hybrid and simulate find the rank and solve it",
        pivot));
  }
  return program;
}

Result<Candidate> best_order(const ScrewProblem& problem, const Request& request, std::vector<Generated::Tried>& tried,
                             int& searched) {
  return Search(problem, request).run(tried, searched);
}

}  // namespace kinegraph::codegen
