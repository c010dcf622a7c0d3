#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "options.hpp"

namespace CLI {
class App;
}

namespace kinegraph::cli {

using Done = Result<std::monostate>;

/// One verb of the command line: its options, and what it does with them. Made anew for each command.
class Verb {
 public:
  virtual ~Verb() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view purpose() const = 0;   ///< one line, in the list of verbs
  virtual std::string_view teaching() const = 0;  ///< the end of its help: examples, what is written
  virtual bool takes_model() const { return true; }
  virtual void declare(CLI::App& app) = 0;
  virtual Done run() = 0;

  std::string program = "kinegraph";  ///< as the user called it
  std::string command;                ///< the whole line, as it was typed

  /// From here on what is found is kept there, not printed.
  void embed(Embedding& in) { common_.embedding = &in; }

 protected:
  CommonOptions common_;
};

std::unique_ptr<Verb> make_check();
std::unique_ptr<Verb> make_kinematics();
std::unique_ptr<Verb> make_simulate();
std::unique_ptr<Verb> make_inverse();
std::unique_ptr<Verb> make_hybrid();
std::unique_ptr<Verb> make_estimate();
std::unique_ptr<Verb> make_identify();
std::unique_ptr<Verb> make_plan();
std::unique_ptr<Verb> make_graph();
std::unique_ptr<Verb> make_codegen();
std::unique_ptr<Verb> make_view();
std::unique_ptr<Verb> make_sweep();
std::unique_ptr<Verb> make_demo();

/// A verb by its name; null if there is none.
std::unique_ptr<Verb> find_verb(const std::string& name);
std::vector<std::string> verb_names();

/// An option of a verb, as programs may ask for it.
struct OptionShape {
  std::string name;  ///< "step", without dashes
  bool flag = false, repeats = false;
  std::string type, help, group;  ///< "FILE.csv"; what it is for; "Common to every verb"
};
std::vector<OptionShape> options_of(Verb& verb);
/// Whether an option of a verb names a file that is written: "out".
bool writes_file(std::string_view verb, std::string_view option);

/// A verb with its arguments as a shell would split them; the answer is left in `in`.
Done ask(const std::string& verb, std::vector<std::string> arguments, Embedding& in);

/// A word as a shell takes it.
std::string shell_word(const std::string& word);

/// A whole command, as the shell splits it: the program's name and the arguments. Prints, and returns the exit status.
int run_command(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace kinegraph::cli
