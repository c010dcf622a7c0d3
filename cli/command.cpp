#include <fmt/format.h>
#include <tbb/global_control.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/files_read.hpp"
#include "progress_bar.hpp"
#include "verb.hpp"
#include "version.hpp"

namespace kinegraph::cli {
namespace {

using MakeVerb = std::unique_ptr<Verb> (*)();

/// A new verb is its file and one line here.
constexpr MakeVerb kVerbs[] = {make_check,    make_kinematics, make_simulate, make_inverse, make_hybrid,
                               make_estimate, make_identify,   make_plan,     make_graph,   make_codegen,
                               make_view,     make_sweep,      make_demo};

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

/// What a verb calls its file: MODEL, or the name that it gave it (TASK).
std::string file_name(const CLI::Option& file) {
  return file.get_type_name() == "TEXT" ? file.get_name() : file.get_type_name();
}

/// Options in the words of this project rather than of the parser.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(36);
    label("Positionals", "Argument");
  }
  std::string make_usage(const CLI::App* app, std::string) const override {
    const CLI::Option* file = app->get_option_no_throw("MODEL");
    return fmt::format("Usage: {}{} [options]\n", app->get_name(), file ? " " + file_name(*file) : "");
  }
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    return positional ? file_name(*option) : CLI::Formatter::make_option_name(option, positional);
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

std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : option.get_lnames()[0];
}

constexpr std::array<std::string_view, 7> kOutputs = {"out",  "json",        "report", "sensors",
                                                      "save", "innovations", "motion"};

/// Where an option stands in kOutputs; its end: it names no file to be written.
const std::string_view* place_of_output(std::string_view verb, std::string_view option) {
  const bool read = option == "motion" && verb != "plan";
  return read ? kOutputs.end() : std::find(kOutputs.begin(), kOutputs.end(), option);
}

/// The options of a verb that name a file to be written, in the order of kOutputs; or those that do not.
std::vector<const CLI::Option*> given_files(const CLI::App& app, const Verb& verb, bool written) {
  const auto place = [&](const CLI::Option* option) { return place_of_output(verb.name(), name_of(*option)); };
  std::vector<const CLI::Option*> given;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0 && (place(option) != kOutputs.end()) == written) given.push_back(option);
  }
  std::stable_sort(given.begin(), given.end(), [&](auto* a, auto* b) { return place(a) < place(b); });
  return given;
}

/// Whether two names are of one file, which need not be there yet. Devices take any number of outputs.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  if (std::filesystem::is_character_file(a, none)) return false;
  return std::filesystem::equivalent(a, b, none) ||
         std::filesystem::weakly_canonical(std::filesystem::absolute(a, none), none) ==
             std::filesystem::weakly_canonical(std::filesystem::absolute(b, none), none);
}

/// One file for each output, and none that the same command reads.
std::vector<Diagnostic> faults_of_outputs(const CLI::App& app, const Verb& verb) {
  std::vector<Diagnostic> faults;
  const auto fault = [&](std::string message) { faults.push_back({Severity::error, {}, std::move(message)}); };
  const std::vector<const CLI::Option*> outputs = given_files(app, verb, true), inputs = given_files(app, verb, false);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = name_of(*outputs[i]), file = outputs[i]->results().front();
    if (file.empty()) fault(name + ": the file name is empty");
    for (std::size_t j = i + 1; j < outputs.size(); ++j) {
      const std::string& other = outputs[j]->results().front();
      const std::string both = fmt::format("{}, {}: ", name, name_of(*outputs[j]));
      if (file == "-" && other == "-") {
        fault(both + "only one of them can be standard output");
      } else if (file != "-" && other != "-" && same_file(file, other)) {
        fault(fmt::format("{}both name the file {}", both, quote(file)));
      }
    }
    for (const CLI::Option* input : inputs) {
      for (std::string read : input->results()) {
        if (read.starts_with('@')) read.erase(0, 1);
        std::error_code none;
        if (file != "-" && std::filesystem::equivalent(read, file, none)) {
          fault(fmt::format("{}: names the file {} that the command reads", name, quote(read)));
        }
      }
    }
  }
  return faults;
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
  if (auto faults = faults_of_outputs(app, verb); !faults.empty()) {
    return Failure{Failure::Kind::bad_input, std::move(faults)};
  }
  if (verb.takes_model() && app.get_option("MODEL")->count() == 0) {
    const std::string file = file_name(*app.get_option("MODEL"));
    const char* kind = file == "TASK" ? "task" : file == "STUDY" ? "study" : "model";
    return Failure::bad_input(fmt::format("expected a {} file: kinegraph {} {} [options]", kind, verb.name(), file));
  }
  return {};
}

int fail(const Failure& failure) {
  say(failure.to_string() + "\n");
  if (failure.kind == Failure::Kind::internal) {
    say("This is a fault of kinegraph, not of your input. Please report it with the command and the model.\n");
  }
  return failure.exit_status();
}

int finish(const Done& done) { return done ? EXIT_SUCCESS : fail(done.failure()); }

void set_up(CLI::App& app, Verb& verb) {
  app.set_help_flag("-h,--help", "this text");
  app.allow_extras();
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  verb.declare(app);
}

/// Fills the verb's options; throws CLI::CallForHelp.
std::optional<Failure> parse(CLI::App& app, const Verb& verb, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // as the parser wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    throw;
  } catch (const CLI::ArgumentMismatch& mismatch) {
    const std::string text = mismatch.what();
    return Failure::bad_input(fmt::format("{}: needs a value", text.substr(0, text.find(':'))));
  } catch (const CLI::ParseError& error) {
    return Failure::bad_input(error.what());
  }
  return fault_of(app, verb);
}

int run_verb(Verb& verb, std::vector<std::string> arguments) {
  CLI::App app(fmt::format("kinegraph {}: {}", verb.name(), verb.purpose()), fmt::format("kinegraph {}", verb.name()));
  app.formatter(std::make_shared<HelpFormatter>());
  set_up(app, verb);
  app.footer(std::string(verb.teaching()));
  try {
    if (const auto fault = parse(app, verb, std::move(arguments))) return fail(*fault);
  } catch (const CLI::CallForHelp&) {
    std::string text = app.help();
    for (std::size_t at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n")) text.erase(at, 1);
    return finish(print(text));
  }

  std::optional<tbb::global_control> limit;
  if (const CLI::Option* threads = app.get_option_no_throw("--threads"); threads && threads->count() > 0) {
    const long count = std::strtol(threads->results().front().c_str(), nullptr, 10);
    if (count > 0) limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count));
  }
  const FilesRead read;
  return finish(verb.run());
}

}  // namespace

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::unique_ptr<Verb> find_verb(const std::string& name) {
  for (const MakeVerb make : kVerbs) {
    if (auto verb = make(); verb->name() == name) return verb;
  }
  return nullptr;
}

bool writes_file(std::string_view verb, std::string_view option) {
  return place_of_output(verb, option) != kOutputs.end();
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const MakeVerb make : kVerbs) names.emplace_back(make()->name());
  return names;
}

std::vector<OptionShape> options_of(Verb& verb) {
  CLI::App app;
  set_up(app, verb);
  std::vector<OptionShape> shapes;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (name == "help") continue;
      shapes.push_back({name, option->get_items_expected_max() == 0,
                        option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll, option->get_type_name(),
                        option->get_description(), option->get_group()});
    }
  }
  return shapes;
}

Done ask(const std::string& name, std::vector<std::string> arguments, Embedding& in) {
  const std::unique_ptr<Verb> verb = find_verb(name);
  if (!verb) return unknown("verb", name, verb_names());
  verb->embed(in);
  verb->command = in.command;
  CLI::App app;
  set_up(app, *verb);
  try {
    if (const auto fault = parse(app, *verb, std::move(arguments))) return *fault;
  } catch (const CLI::CallForHelp&) {
    return Failure::bad_input("help: a program cannot ask for it");
  }
  const FilesRead read;
  return verb->run();
}

int run_command(const std::string& program, const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    say(help());
    return Failure::bad_input("").exit_status();
  }
  const std::string& first = arguments.front();
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (first == "--version") return finish(print(fmt::format("kinegraph {}\n", kVersion)));
  if (first == "--help" || first == "-h" || first == "help") {
    if (rest.empty()) return finish(print(help()));
    return run_command(program, {rest.front(), "--help"});
  }

  if (const auto verb = find_verb(first)) {
    verb->program = program;
    verb->command = "kinegraph";
    for (const std::string& word : arguments) verb->command += " " + shell_word(word);
    return run_verb(*verb, std::move(rest));
  }
  if (first.starts_with('-')) return fail(unknown("option", first, {"--help", "--version"}));
  const int status = fail(unknown("verb", first, verb_names()));
  say("'kinegraph --help' lists the verbs\n");
  return status;
}

}  // namespace kinegraph::cli
