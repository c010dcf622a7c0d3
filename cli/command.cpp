#include <fmt/format.h>
#include <tbb/global_control.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>

#include "kinegraph/base/names.hpp"
#include "progress_bar.hpp"
#include "verb.hpp"
#include "version.hpp"

namespace kinegraph::cli {
namespace {

using MakeVerb = std::unique_ptr<Verb> (*)();

/// A new verb is its file and one line here.
constexpr MakeVerb kVerbs[] = {make_check,    make_kinematics, make_simulate, make_inverse, make_hybrid, make_estimate,
                               make_identify, make_plan,       make_graph,    make_codegen, make_view,   make_demo};

std::string help() {
  std::string text =
      "kinegraph: how mechanisms move, and the forces that move them\n\n"
      "Usage: kinegraph VERB MODEL [options]\n\nVerbs:\n";
  for (const MakeVerb make : kVerbs) {
    const auto verb = make();
    text += fmt::format("  {:<12}{}\n", verb->name(), verb->purpose());
  }
  text +=
      "\nStart with:\n"
      "  kinegraph demo                                       the tour: every verb on a four-bar, results in out/demo\n"
      "  kinegraph check fourbar.yaml                         what is in the file\n"
      "  kinegraph simulate fourbar.yaml --time 5 --out m.csv its motion under gravity\n\n"
      "Values are in SI units, or carry their own: 30deg, 1ms, 20mm, 60rpm. 'kinegraph VERB --help' teaches each "
      "verb.\n"
      "Exit status: 0 done; 1 the problem has no answer; 2 bad input; 3 internal fault; 130 interrupted.\n";
  return text;
}

/// Options in the words of this project rather than of the parser.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(36);
    label("Positionals", "Argument");
  }
  std::string make_usage(const CLI::App* app, std::string) const override {
    const bool model = app->get_option_no_throw("MODEL") != nullptr;
    return fmt::format("Usage: {}{} [options]\n", app->get_name(), model ? " MODEL" : "");
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const bool flag = option->get_items_expected_max() == 0;
    return flag || option->get_positional() ? "" : " " + option->get_type_name();
  }
};

Failure unknown(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
  return Failure::bad_input(fmt::format("unknown {} {}{}", what, quote(name), did_you_mean(name, known)));
}

std::vector<std::string> long_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// What the parser lets through: words that no option takes, options without a value.
std::optional<Failure> fault_of(const CLI::App& app, const Verb& verb) {
  const std::vector<std::string> left = app.remaining();
  for (const std::string& word : left) {
    if (word.starts_with('-') && word.size() > 1) {
      return unknown("option", word.substr(0, word.find('=')), long_names(app));
    }
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    for (const std::string& value : option->results()) {
      if (value.starts_with("--")) {
        return Failure::bad_input(fmt::format("--{}: needs a value, found {}", option->get_lnames()[0], quote(value)));
      }
    }
    const bool repeats = option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    if (option->count() > 1 && !repeats && option->get_items_expected_max() > 0) {
      return Failure::bad_input(fmt::format("--{}: is given {} times", option->get_lnames()[0], option->count()));
    }
  }
  if (!left.empty()) return Failure::bad_input(fmt::format("did not expect {}", quote(left.front())));
  if (verb.takes_model() && app.get_option("MODEL")->count() == 0) {
    return Failure::bad_input(fmt::format("expected a model file: kinegraph {} MODEL [options]", verb.name()));
  }
  return {};
}

/// A word as a shell takes it.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

int fail(const Failure& failure) {
  fmt::print(stderr, "{}\n", failure.to_string());
  if (failure.kind == Failure::Kind::internal) {
    fmt::print(stderr,
               "This is a fault of kinegraph, not of your input. Please report it with the command and the model.\n");
  }
  return failure.exit_status();
}

int finish(const Done& done) { return done ? EXIT_SUCCESS : fail(done.failure()); }

int run_verb(Verb& verb, std::vector<std::string> arguments) {
  CLI::App app(fmt::format("kinegraph {}: {}", verb.name(), verb.purpose()), fmt::format("kinegraph {}", verb.name()));
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "this text");
  app.allow_extras();
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  verb.declare(app);
  app.footer(std::string(verb.teaching()));

  std::reverse(arguments.begin(), arguments.end());  // as the parser wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    std::string text = app.help();
    for (std::size_t at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n")) text.erase(at, 1);
    return finish(print(text));
  } catch (const CLI::ArgumentMismatch& mismatch) {
    const std::string text = mismatch.what();
    return fail(Failure::bad_input(fmt::format("{}: needs a value", text.substr(0, text.find(':')))));
  } catch (const CLI::ParseError& error) {
    return fail(Failure::bad_input(error.what()));
  }
  if (const auto fault = fault_of(app, verb)) return fail(*fault);

  std::optional<tbb::global_control> limit;
  if (const CLI::Option* threads = app.get_option_no_throw("--threads"); threads && threads->count() > 0) {
    const long count = std::strtol(threads->results().front().c_str(), nullptr, 10);
    if (count > 0) limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count));
  }
  return finish(verb.run());
}

}  // namespace

int run_command(const std::string& program, const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    fmt::print(stderr, "{}", help());
    return Failure::bad_input("").exit_status();
  }
  const std::string& first = arguments.front();
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (first == "--version") return finish(print(fmt::format("kinegraph {}\n", kVersion)));
  if (first == "--help" || first == "-h" || first == "help") {
    if (rest.empty()) return finish(print(help()));
    return run_command(program, {rest.front(), "--help"});
  }

  std::vector<std::string> known;
  for (const MakeVerb make : kVerbs) {
    const auto verb = make();
    if (verb->name() == first) {
      verb->program = program;
      verb->command = "kinegraph";
      for (const std::string& word : arguments) verb->command += " " + shell_word(word);
      return run_verb(*verb, std::move(rest));
    }
    known.emplace_back(verb->name());
  }
  if (first.starts_with('-')) return fail(unknown("option", first, {"--help", "--version"}));
  const int status = fail(unknown("verb", first, known));
  fmt::print(stderr, "'kinegraph --help' lists the verbs\n");
  return status;
}

}  // namespace kinegraph::cli
