#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include "graph_options.hpp"
#include "kinegraph/base/names.hpp"
#include "kinegraph/codegen/emit.hpp"
#include "kinegraph/codegen/generate.hpp"
#include "kinegraph/io/output.hpp"
#include "kinegraph/task/graph.hpp"
#include "memory.hpp"
#include "outputs.hpp"
#include "progress_bar.hpp"

namespace kinegraph::cli {
namespace {

using codegen::Problem;

const std::map<std::string, Problem> kProblems = {{"inverse", Problem::inverse},
                                                  {"forward", Problem::forward},
                                                  {"hybrid", Problem::hybrid},
                                                  {"mass-matrix", Problem::mass_matrix},
                                                  {"kinematics", Problem::kinematics}};

class Codegen final : public Verb {
 public:
  std::string_view name() const override { return "codegen"; }
  std::string_view purpose() const override { return "writes the dynamics of a robot as one C++ function"; }
  std::string_view teaching() const override {
    return "Examples:\n"
           "  kinegraph codegen arm.urdf --problem inverse --out arm_inverse.hpp\n"
           "  kinegraph codegen arm.urdf --problem forward --ordering best --derivatives --out arm_forward.hpp\n"
           "  kinegraph codegen quadruped.urdf --base floating --problem forward --batch 8 --out quadruped.hpp\n"
           "  kinegraph codegen arm.urdf --problem hybrid --known j1.a --out hybrid.hpp\n\n"
           "The header needs C++17 and nothing else; its first lines say what each number is:\n"
           "  inline double NAME(const double* q, const double* v, const double* a, double* out)\n"
           "No branches, no allocation. It returns the smallest pivot of the elimination over its usual size: near 0 "
           "the\n"
           "position is singular, and numeric elimination (inverse, simulate) should take over.\n"
           "Orderings: best (the fewest operations of many), rnea, crba, aba, colamd, amd, metis, natural; --order "
           "gives\n"
           "your own. Friction, damping and springs of the joints are in it unless --no-joint-forces.\n"
           "The summary names the function: MODEL_PROBLEM with what is no letter or digit as '_', unless --name. More: "
           "docs/codegen.md.\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("--problem", problem_, "what is asked; default inverse")
        ->type_name("inverse|forward|hybrid|mass-matrix|kinematics")
        ->capture_default_str();
    app.add_option("--ordering", ordering_, "order of elimination; default best")
        ->type_name("NAME|best")
        ->capture_default_str();
    app.add_option("--order", order_, "your own order: all unknowns by name, between blanks")
        ->type_name("\"t1 F1 ...\"");
    app.add_option("--known", known_, "what is known in a hybrid problem")->type_name("j1.a,j2.tau,...");
    app.add_option("--out", out_, "the header; - is standard output")->type_name("FILE.hpp");
    app.add_option("--name", name_, "of the function; default MODEL_PROBLEM")->type_name("NAME");
    app.add_flag("--derivatives", derivatives_, "also by_q, by_v and by what is given");
    app.add_flag("--single", single_, "float instead of double");
    app.add_option("--batch", batch_, "also NAME_batch, for so many states at once")->type_name("4|8");
    app.add_flag("--no-joint-forces", no_joint_forces_, "without friction, damping and springs of the joints");
    common_.declare(app, false);
    app.get_option("--report")->group("");  // refused, see read()
  }
  Done run() override;

 private:
  Result<codegen::Request> read(OptionReader& reader);
  bool summary_only() const { return common_.embedding && common_.embedding->summary_only; }
  Done write(const codegen::Generated& generated, const codegen::EmitOptions& options, Outputs& outputs,
             std::optional<SideFile>& file);
  codegen::EmitOptions emit_options() const;
  std::string search_text(const codegen::Generated& generated) const;

  std::string problem_ = "inverse", ordering_ = "best", order_, known_, out_, name_, batch_ = "0";
  bool derivatives_ = false, single_ = false, no_joint_forces_ = false;
};

Result<codegen::Request> Codegen::read(OptionReader& reader) {
  codegen::Request request;
  std::vector<std::string> problems;
  for (const auto& [name, problem] : kProblems) problems.push_back(name);
  reader.choice("problem", problem_, problems);
  std::istringstream words(order_);
  for (std::string word; words >> word;) request.custom.push_back(word);
  if (!request.custom.empty() && ordering_ == "best") ordering_ = "custom";
  std::vector<std::string> orderings = build::screw_order_names();
  orderings.push_back("best");
  reader.choice("ordering", ordering_, orderings);
  if ((ordering_ == "custom") == request.custom.empty()) reader.fault("order", "goes with --ordering custom");
  if (known_.empty() != (problem_ != "hybrid")) {
    reader.fault("known", "goes with --problem hybrid: --known j1.a,j2.tau says what is known of each joint");
  }
  reader.choice("batch", batch_, {"0", "4", "8"});
  if (out_.empty() && !summary_only()) reader.fault("out", "is missing: kinegraph codegen MODEL --out FILE.hpp");
  if (out_ == "-" && common_.json == "-") reader.fault("out, json", "only one of them can be standard output");
  if (out_ != "-" && !out_.empty() && out_ == common_.json) {
    reader.fault("out, json", "both name the file " + quote(out_));
  }
  if (!common_.report.empty()) {
    reader.fault("report", "codegen has nothing to draw: 'kinegraph graph MODEL --report FILE.html' shows the order");
  }
  if (const std::string valid = codegen::identifier(name_); !name_.empty() && name_ != valid) {
    reader.fault("name",
                 fmt::format("must be letters, digits and single '_', no word that C++ or the header uses, is {}; "
                             "{} would do",
                             quote(name_), quote(valid)));
  }
  const bool dynamics = problem_ != "mass-matrix" && problem_ != "kinematics";
  if (derivatives_ && !dynamics) reader.fault("derivatives", "are of inverse, forward and hybrid dynamics");
  if (!reader.ok()) return reader.failure();
  request.problem = kProblems.at(problem_);
  request.ordering = ordering_;
  request.options.derivatives = derivatives_;
  request.options.joint_forces = !no_joint_forces_;
  return request;
}

std::string Codegen::search_text(const codegen::Generated& generated) const {
  if (generated.tried.empty()) return "";
  std::string text = fmt::format("\n  ordering    operations{}\n", derivatives_ ? ", without derivatives" : "");
  for (const auto& tried : generated.tried) {
    const char* why = tried.flops >= 0                                     ? ""
                      : tried.flops == codegen::Generated::Tried::kGivenUp ? "  (given up: far more operations)"
                                                                           : "  (no code in this order)";
    text += fmt::format("  {:<12}{:>10}{}\n", tried.ordering, tried.flops < 0 ? "-" : std::to_string(tried.flops), why);
  }
  if (generated.searched > static_cast<int>(generated.tried.size())) {
    if (generated.ordering == "found") text += fmt::format("  {:<12}{:>10}\n", "found", generated.without_derivatives);
    text += fmt::format("  {} orders were traced; taken: {}\n  {}\n", generated.searched, generated.ordering,
                        generated.order);
  }
  return text;
}

codegen::EmitOptions Codegen::emit_options() const {
  codegen::EmitOptions options;
  const std::string stem = std::filesystem::path(common_.model).stem().string();
  options.name = codegen::identifier(name_.empty() ? fmt::format("{}_{}", stem, problem_) : name_);
  options.model = stem;
  options.single = single_;
  options.lanes = batch_ == "0" ? 0 : batch_ == "4" ? 4 : 8;
  return options;
}

Done Codegen::write(const codegen::Generated& generated, const codegen::EmitOptions& options, Outputs& outputs,
                    std::optional<SideFile>& file) {
  const std::string text = codegen::emit_header(generated.program, options);
  if (Done done = file ? file->write(text) : Done(std::monostate{}); !done) return done;
  const codegen::OperationCount cost = generated.program.cost();
  Summary summary("codegen", common_.model);
  summary.add("problem", problem_, "problem")
      .add("function", options.name, "function")
      .add("ordering", generated.ordering, generated.ordering.empty() ? "" : "ordering")
      .add("orders_traced", generated.searched, "")
      .add("additions", cost.additions, "additions")
      .add("multiplications", cost.multiplications, "multiplications")
      .add("divisions", cost.divisions, "divisions")
      .add("sines", cost.sines, "pairs of sine and cosine")
      .add("operations", cost.flops(), "operations");
  if (derivatives_) summary.add("operations_without_derivatives", generated.without_derivatives, "without derivatives");
  summary.add("bytes", text.size(), "size of the header", "bytes");
  nlohmann::ordered_json table = nlohmann::ordered_json::object();
  for (const auto& tried : generated.tried) {
    table[tried.ordering] = tried.flops < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(tried.flops);
  }
  summary.add("tried", table, "").add("order", generated.order, "");
  summary.add_text(search_text(generated));
  summary.add_text(fmt::format("  wrote {}\n", out_));
  return outputs.write(summary, nullptr, {}, out_ == "-");
}

Done Codegen::run() {
  OptionReader reader;
  common_.read(reader);
  Result<codegen::Request> request = read(reader);
  if (!request) return request.failure();
  Result<Outputs> outputs = Outputs::open(json_only(common_));
  if (!outputs) return outputs.failure();
  std::optional<SideFile> file;
  if (!summary_only()) {
    Result<SideFile> created = SideFile::create(common_.embedding, out_);
    if (!created) return created.failure();
    file.emplace(*std::move(created));
  }
  const Result<Model> model = common_.read_model();
  if (!model) return model.failure();
  const auto tree = task::tree_of(*model);
  if (!tree) return tree.failure();
  if (problem_ == "hybrid" || problem_ == "inverse") {
    const auto given = task::given_of(**tree, problem_, split_list(known_));
    if (!given) return given.failure();
    request->given = *given;
  }
  ProgressBar bar("codegen", common_);
  request->progress = bar.callback();
  const Result<codegen::Generated> generated = codegen::generate(*tree, *request);
  if (!generated) return generated.failure();
  if (Done fine = generated->program.check_constants(single_); !fine) return fine;
  codegen::EmitOptions options = emit_options();
  options.ordering = generated->ordering;
  return write(*generated, options, *outputs, file);
}

}  // namespace

std::unique_ptr<Verb> make_codegen() { return std::make_unique<Codegen>(); }

}  // namespace kinegraph::cli
