#include "test/acceptance/golden.hpp"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "kinegraph/io/model_file.hpp"
#include "test/shared.hpp"

namespace kinegraph::acceptance {
namespace {

using nlohmann::json;

std::shared_ptr<const screw::Tree> tree_of(const std::filesystem::path& path, Robot::Base base) {
  ReadOptions options;
  options.base = base;
  const Result<Model> model = read_model(path, options);
  if (!model) throw std::runtime_error(model.failure().to_string());
  const auto tree = screw::Tree::make(model->robot);
  if (!tree) throw std::runtime_error(tree.failure().to_string());
  return *tree;
}

/// at[i]: where column i of the tree stands in the file.
std::vector<int> places(const std::vector<std::string>& ours, const json& theirs) {
  std::map<std::string, int> place;
  for (const json& name : theirs) place.emplace(name.get<std::string>(), static_cast<int>(place.size()));
  if (place.size() != ours.size()) throw std::runtime_error("golden: the model has another number of columns");
  std::vector<int> at;
  for (const std::string& name : ours) {
    const auto found = place.find(name);
    if (found == place.end()) throw std::runtime_error("golden: no column '" + name + "'");
    at.push_back(found->second);
  }
  return at;
}

Eigen::VectorXd vector(const json& numbers, const std::vector<int>& at) {
  Eigen::VectorXd x(static_cast<int>(at.size()));
  for (int i = 0; i < x.size(); ++i) x[i] = numbers.at(at[i]).get<double>();
  return x;
}

Eigen::MatrixXd symmetric(const json& upper_triangle, const std::vector<int>& at) {
  const int n = static_cast<int>(at.size());
  Eigen::MatrixXd theirs(n, n);
  int next = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = i; j < n; ++j) theirs(i, j) = theirs(j, i) = upper_triangle.at(next++).get<double>();
  }
  return theirs(at, at);
}

/// Row by row.
Eigen::MatrixXd square(const json& numbers, const std::vector<int>& at) {
  const std::vector<double> all = numbers.get<std::vector<double>>();
  const int n = static_cast<int>(at.size());
  if (static_cast<int>(all.size()) != n * n) throw std::runtime_error("golden: a matrix of another size");
  const Eigen::MatrixXd theirs = Eigen::Map<const Eigen::MatrixXd>(all.data(), n, n).transpose();
  return theirs(at, at);
}

GoldenState state(const json& file, const std::vector<int>& q_at, const std::vector<int>& v_at) {
  GoldenState s;
  s.q = vector(file.at("q"), q_at);
  s.v = vector(file.at("v"), v_at);
  s.a = vector(file.at("a"), v_at);
  s.tau = vector(file.at("tau"), v_at);
  s.rnea = vector(file.at("rnea"), v_at);
  s.aba = vector(file.at("aba"), v_at);
  s.bias = vector(file.at("bias"), v_at);
  s.gravity = vector(file.at("gravity"), v_at);
  if (file.contains("M")) {
    s.M = symmetric(file.at("M"), v_at);
    return s;
  }
  for (std::size_t k = 0; k < file.at("Mx").size(); ++k) {
    Eigen::VectorXd x(static_cast<int>(v_at.size()));
    for (int i = 0; i < x.size(); ++i) x[i] = std::cos((v_at[i] + 1.0) * (static_cast<double>(k) + 1.0));
    s.x.push_back(x);
    s.Mx.push_back(vector(file.at("Mx")[k], v_at));
  }
  return s;
}

}  // namespace

Golden read_golden(const std::string& name) {
  std::ifstream stream(source_file("test/golden/" + name + ".json"));
  if (!stream) throw std::runtime_error("no test/golden/" + name + ".json");
  const json file = json::parse(stream);
  const std::string path = file.at("model");
  const auto found = file.at("shared").get<bool>() ? shared("models/" + path) : source_file(path);
  Golden golden;
  if (!found) return golden;
  golden.tree = tree_of(*found, file.at("base") == "floating" ? Robot::Base::floating : Robot::Base::fixed);
  const auto q_at = places(golden.tree->position_names(), file.at("positions"));
  const auto v_at = places(golden.tree->velocity_names(), file.at("velocities"));
  for (const json& one : file.at("states")) golden.states.push_back(state(one, q_at, v_at));
  for (const json& one : file.value("derivatives", json::array())) {
    const auto matrix = [&](const char* name) { return square(one.at(name), v_at); };
    golden.derivatives.push_back({matrix("tau_q"), matrix("tau_v"), matrix("a_q"), matrix("a_v"), matrix("a_tau")});
  }
  return golden;
}

std::shared_ptr<const screw::Tree> own_tree(const std::string& name, Robot::Base base) {
  return tree_of(source_file("models/" + name + ".urdf"), base);
}

}  // namespace kinegraph::acceptance
