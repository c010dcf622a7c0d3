#include "kinegraph/linear/elimination_game.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

namespace kinegraph::linear {
namespace {

/// Keeps for every variable the factors that hold it and are not used up.
class Player {
 public:
  explicit Player(const Incidence& incidence) {
    game_.incidence = incidence;
    game_.position.assign(incidence.size.size(), -1);
    factors_of_.resize(incidence.size.size());
    for (const Incidence::Factor& factor : incidence.factors) add(factor);
  }

  EliminationGame play(const std::vector<std::vector<int>>& order, int steps) {
    const std::vector<int> when = positions(order);
    const int count = steps < 0 ? static_cast<int>(order.size()) : std::min<int>(steps, static_cast<int>(order.size()));
    for (int k = 0; k < count; ++k) eliminate(order[k], when);
    return std::move(game_);
  }

 private:
  int add(const Incidence::Factor& factor) {
    const int index = static_cast<int>(game_.factors.size());
    game_.factors.push_back(factor);
    game_.used.push_back(false);
    for (const int v : factor.variables) factors_of_.at(v).push_back(index);
    return index;
  }

  /// Place of each variable in the order, its groups written out; those not named come last.
  std::vector<int> positions(const std::vector<std::vector<int>>& order) const {
    std::vector<int> when(game_.position.size(), -1);
    int next = 0;
    for (const auto& group : order) {
      for (const int v : group) {
        if (v < 0 || v >= static_cast<int>(when.size())) {
          throw std::invalid_argument("order: there is no variable " + std::to_string(v));
        }
        if (when[v] >= 0) throw std::invalid_argument("order: variable " + std::to_string(v) + " is named twice");
        when[v] = next++;
      }
    }
    for (int& w : when) w = w < 0 ? next++ : w;
    return when;
  }

  void eliminate(const std::vector<int>& group, const std::vector<int>& when) {
    EliminationStep step;
    step.variables = group;
    int size = 0;
    for (const int v : group) {
      size += game_.incidence.size[v];
      game_.position[v] = static_cast<int>(game_.steps.size());
      for (const int f : factors_of_[v]) {
        if (!game_.used[f]) step.factors.push_back(f);
        game_.used[f] = true;
      }
    }
    std::sort(step.factors.begin(), step.factors.end());
    std::set<int> others;
    for (const int f : step.factors) {
      step.rows += game_.factors[f].rows;
      others.insert(game_.factors[f].variables.begin(), game_.factors[f].variables.end());
    }
    for (const int v : group) others.erase(v);
    step.parents.assign(others.begin(), others.end());
    std::sort(step.parents.begin(), step.parents.end(), [&](int a, int b) { return when[a] < when[b]; });
    if (step.rows > size && !step.parents.empty()) step.created = add({step.rows - size, step.parents});
    game_.steps.push_back(std::move(step));
  }

  EliminationGame game_;
  std::vector<std::vector<int>> factors_of_;
};

}  // namespace

EliminationGame play(const Incidence& incidence, const std::vector<std::vector<int>>& order, int steps) {
  return Player(incidence).play(order, steps);
}

std::vector<std::pair<int, int>> EliminationGame::edges() const {
  std::vector<std::pair<int, int>> edges;
  for (const EliminationStep& step : steps) {
    for (std::size_t i = 0; i < step.variables.size(); ++i) {
      for (std::size_t j = i + 1; j < step.variables.size(); ++j) {
        edges.emplace_back(step.variables[i], step.variables[j]);
      }
      for (const int p : step.parents) edges.emplace_back(step.variables[i], p);
    }
  }
  return edges;
}

int EliminationGame::fill() const {
  std::vector<std::vector<int>> neighbours(incidence.size.size());
  for (const Incidence::Factor& factor : incidence.factors) {
    for (const int v : factor.variables) {
      neighbours[v].insert(neighbours[v].end(), factor.variables.begin(), factor.variables.end());
    }
  }
  for (auto& list : neighbours) std::sort(list.begin(), list.end());
  const auto all = edges();
  return static_cast<int>(std::count_if(all.begin(), all.end(), [&](const auto& edge) {
    return !std::binary_search(neighbours[edge.first].begin(), neighbours[edge.first].end(), edge.second);
  }));
}

double EliminationGame::flops() const {
  double flops = 0;
  for (const EliminationStep& step : steps) {
    int d = 0, p = 0;
    for (const int v : step.variables) d += incidence.size[v];
    for (const int v : step.parents) p += incidence.size[v];
    // Column k of the group: each of the rows below its pivot gets one quotient and a multiple of the pivot's row.
    for (int k = 0; k < std::min(d, step.rows); ++k) flops += (step.rows - 1.0 - k) * (1 + 2.0 * (d + p - k));
    flops += double(d) * d + 2.0 * d * p;  // back-substitution
  }
  return flops;
}

int EliminationGame::width() const {
  std::size_t width = 0;
  for (const EliminationStep& step : steps) width = std::max(width, step.variables.size() + step.parents.size());
  return static_cast<int>(width);
}

int EliminationGame::width_in_numbers() const {
  int width = 0;
  for (const EliminationStep& step : steps) {
    int numbers = 0;
    for (const int v : step.variables) numbers += incidence.size[v];
    for (const int v : step.parents) numbers += incidence.size[v];
    width = std::max(width, numbers);
  }
  return width;
}

std::vector<Clique> clique_tree(const EliminationGame& game) {
  std::vector<Clique> cliques;
  std::vector<int> clique_of(game.position.size(), -1);
  // From the root: the last variables first.
  for (auto step = game.steps.rbegin(); step != game.steps.rend(); ++step) {
    int above = -1;  // parents are in order of elimination: the first that has a clique
    for (auto p = step->parents.begin(); p != step->parents.end() && above < 0; ++p) above = clique_of[*p];
    int mine = -1;
    if (above >= 0) {
      Clique& c = cliques[above];
      std::vector<int> whole = c.frontal, parents = step->parents;
      whole.insert(whole.end(), c.parents.begin(), c.parents.end());
      std::sort(whole.begin(), whole.end());
      std::sort(parents.begin(), parents.end());
      if (whole == parents) mine = above;
    }
    if (mine < 0) {
      mine = static_cast<int>(cliques.size());
      cliques.push_back({{}, step->parents, {}, above});
    }
    Clique& c = cliques[mine];
    c.frontal.insert(c.frontal.begin(), step->variables.begin(), step->variables.end());
    for (const int v : step->variables) clique_of[v] = mine;
  }
  // What a part needs from above: its own parents, and what is passed on from below.
  std::vector<std::set<int>> needed(cliques.size());
  for (int c = static_cast<int>(cliques.size()) - 1; c >= 0; --c) {
    needed[c].insert(cliques[c].parents.begin(), cliques[c].parents.end());
    for (const int v : cliques[c].frontal) needed[c].erase(v);
    cliques[c].separator.assign(needed[c].begin(), needed[c].end());
    if (cliques[c].parent >= 0) needed[cliques[c].parent].insert(needed[c].begin(), needed[c].end());
  }
  return cliques;
}

}  // namespace kinegraph::linear
