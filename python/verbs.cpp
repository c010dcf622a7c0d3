#include <pybind11/stl.h>
#include <tbb/global_control.h>

#include <charconv>
#include <cmath>

#include "binding.hpp"
#include "verb.hpp"
#include "version.hpp"

namespace kinegraph::python {
namespace {

/// What a verb found: what the command line would have written and printed.
struct Answer {
  std::string summary;
  Table table;
  std::map<std::string, Table> tables;
  std::map<std::string, std::string> texts;
  std::vector<std::string> warnings;
  std::function<std::string(const Trajectory* beside)> page;
};

Table to_table(Trajectory trajectory) { return {std::make_shared<const Trajectory>(std::move(trajectory))}; }

Answer to_answer(cli::Embedding&& found) {
  Answer answer{found.summary.dump(),
                to_table(std::move(found.trajectory)),
                {},
                std::move(found.texts),
                std::move(found.warnings),
                std::move(found.page)};
  for (auto& [name, trajectory] : found.tables) answer.tables.emplace(name, to_table(std::move(trajectory)));
  return answer;
}

/// The text of a table: every digit; what is not a number is left empty.
std::string to_text(const Trajectory& table) {
  std::string text = "t";
  for (const std::string& name : table.names()) {
    const bool plain = name.find_first_of(", \t\"") == std::string::npos;
    text += plain ? "," + name : ",\"" + name + "\"";
  }
  text += '\n';
  char digits[32];
  const auto add = [&](double value) {
    if (!std::isnan(value)) text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  };
  for (int i = 0; i < table.samples(); ++i) {
    add(table.times()[i]);
    for (int s = 0; s < table.series(); ++s) {
      text += ',';
      add(table.at(i, s));
    }
    text += '\n';
  }
  return text;
}

/// A verb with its arguments. Raises what went wrong; an answer that is not what was wanted (a goal out of reach) goes
/// with it.
Answer ask(const std::string& verb, const std::vector<std::string>& arguments, std::shared_ptr<Model> model,
           const std::map<std::string, Table>& tables, const std::string& command, int threads) {
  Interruption interruption;
  cli::Embedding in;
  in.model = std::move(model);
  in.command = command;
  in.keep_trajectory = in.keep_page = true;
  in.stopped = [&interruption] { return interruption.asked(); };
  std::optional<cli::Done> done;
  {
    const py::gil_scoped_release free;
    std::optional<tbb::global_control> limit;
    if (threads > 0) {
      limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    }
    for (const auto& [name, table] : tables) in.given.emplace(name, to_text(*table.trajectory));
    done.emplace(cli::ask(verb, arguments, in));
  }
  interruption.raise_if_asked();
  if (*done) return to_answer(std::move(in));
  if (in.summary.is_null()) raise(done->failure());
  try {
    raise(done->failure());
  } catch (py::error_already_set& error) {
    error.value().attr("answer") = py::cast(to_answer(std::move(in)));
    throw;
  }
}

std::string page(const Answer& answer, const std::optional<Table>& beside) {
  const py::gil_scoped_release free;
  return answer.page ? answer.page(beside ? beside->trajectory.get() : nullptr) : std::string();
}

/// (name, takes no value, may be repeated, type, help, group) of every option.
py::list options(const std::string& name) {
  py::list shapes;
  const auto verb = cli::find_verb(name);
  if (!verb) throw py::value_error("there is no verb '" + name + "'");
  for (const cli::OptionShape& o : cli::options_of(*verb)) {
    shapes.append(py::make_tuple(o.name, o.flag, o.repeats, o.type, o.help, o.group));
  }
  return shapes;
}

py::tuple about(const std::string& name) {
  const auto verb = cli::find_verb(name);
  if (!verb) throw py::value_error("there is no verb '" + name + "'");
  return py::make_tuple(std::string(verb->purpose()), std::string(verb->teaching()));
}

}  // namespace

void bind_verbs(py::module_& module) {
  module.attr("__version__") = cli::kVersion;
  py::class_<Answer>(module, "Answer")
      .def_readonly("summary", &Answer::summary)
      .def_readonly("table", &Answer::table)
      .def_readonly("tables", &Answer::tables)
      .def_readonly("texts", &Answer::texts)
      .def_readonly("warnings", &Answer::warnings)
      .def("page", &page, py::arg("beside") = std::optional<Table>());
  module.def("ask", &ask, py::arg("verb"), py::arg("arguments"), py::arg("model"), py::arg("tables"),
             py::arg("command"), py::arg("threads"));
  module.def("verbs", &cli::verb_names);
  module.def("options", &options, py::arg("verb"));
  module.def("about", &about, py::arg("verb"));
}

}  // namespace kinegraph::python
