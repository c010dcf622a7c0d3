#pragma once

#include <utility>
#include <vector>

namespace kinegraph::linear {

/// Which unknowns stand in which equations, and how many numbers each has. No numbers, no robots.
struct Incidence {
  struct Factor {
    int rows = 0;
    std::vector<int> variables;
  };
  std::vector<int> size;  ///< numbers per variable
  std::vector<Factor> factors;
};

/// One step of the elimination game: a group of variables is expressed by those that are eliminated later.
struct EliminationStep {
  std::vector<int> variables;
  std::vector<int> factors;  ///< the adjacent ones: they are used up. Created factors are numbered after the given ones
  std::vector<int> parents;  ///< union over the adjacent factors, without the group; in order of their elimination
  int rows = 0;              ///< of the adjacent factors together
  int created = -1;          ///< the new factor on the parents; −1 where no rows remain
};

/// Elimination seen as a game on the graph (001, section IV): the variables go one group at a time. The factors that
/// hold them are used up; if they have more rows than the group has numbers, the rows that remain are a new factor on
/// the other variables. What a variable depends on makes a directed acyclic graph.
struct EliminationGame {
  Incidence incidence;                     ///< as given
  std::vector<EliminationStep> steps;      ///< as far as played
  std::vector<Incidence::Factor> factors;  ///< given, then created
  std::vector<bool> used;                  ///< per factor
  std::vector<int> position;               ///< per variable: its step; −1: not (yet) eliminated

  /// (variable, parent): the arrows of the graph. Variables of one group follow each other as in the order.
  std::vector<std::pair<int, int>> edges() const;
  /// Edges between variables that no given factor has in common.
  int fill() const;
  /// Multiplications and additions if every step is a dense front of its rows × (group + parents + right side).
  double flops() const;
  /// The largest clique (group and parents): in variables, and in their numbers.
  int width() const;
  int width_in_numbers() const;
};

/// `order`: groups of variables, each at most once. Variables that it does not name are never eliminated (they may be
/// parents). Only the first `steps` groups are played, all if it is negative.
/// Throws std::invalid_argument if a variable is named twice or does not exist.
EliminationGame play(const Incidence& incidence, const std::vector<std::vector<int>>& order, int steps = -1);

/// A node of the clique tree: variables that are eliminated together, and those above that they depend on.
struct Clique {
  std::vector<int> frontal;
  std::vector<int> parents;    ///< not frontal here; frontal + parents is the clique
  std::vector<int> separator;  ///< all that this clique and those below it need from above: cuts the tree here
  int parent = -1;             ///< towards the root; parents come before their children
};

/// A variable joins the clique of the first of its parents if its own parents are all of that clique; else it starts a
/// clique below it. Separate roots are separate problems.
std::vector<Clique> clique_tree(const EliminationGame& game);

}  // namespace kinegraph::linear
