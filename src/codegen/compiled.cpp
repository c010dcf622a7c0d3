#include "kinegraph/codegen/compiled.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kinegraph/base/checksum.hpp"
#include "kinegraph/codegen/emit.hpp"

extern char** environ;

namespace kinegraph::codegen {
namespace {

namespace fs = std::filesystem;

/// Products and sums in one operation, which g++ does by itself; eight doubles in one vector where there are such,
/// which clang++ else splits: only compilers for x86-64 know that word.
std::vector<std::string> flags() {
  std::vector<std::string> words{"-std=c++17", "-O2", "-march=native", "-ffp-contract=fast", "-fPIC", "-shared"};
  utsname machine{};
  if (uname(&machine) == 0 && std::string(machine.machine) == "x86_64") {
    words.emplace_back("-mprefer-vector-width=512");
  }
  return words;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The whole path of a program, as the shell would find it; empty if it cannot.
std::string find_program(const std::string& name) {
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = (folder.empty() ? "." : folder) + "/" + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

std::string find_compiler() {
  if (const std::string own = variable("KINEGRAPH_CXX"); !own.empty()) return find_program(own);
  for (const std::string& name : {variable("CXX"), std::string("c++"), std::string("g++"), std::string("clang++")}) {
    if (const std::string path = find_program(name); !path.empty()) return path;
  }
  return "";
}

/// The cache folder, made if need be; nobody else may write to it. A relative path in XDG_CACHE_HOME is not valid, says
/// the standard, and ignored.
Result<fs::path> cache_folder() {
  std::string base = variable("XDG_CACHE_HOME");
  if (!base.starts_with('/')) base.clear();
  if (base.empty() && !variable("HOME").empty()) base = variable("HOME") + "/.cache";
  if (base.empty()) return Failure::no_answer("no cache folder: neither XDG_CACHE_HOME nor HOME is set");
  const fs::path folder = fs::path(base) / "kinegraph";
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  mkdir(folder.c_str(), 0700);  // if it is there already, what it allows is looked at below
  struct stat state {};
  if (stat(folder.c_str(), &state) != 0 || !S_ISDIR(state.st_mode)) {
    return Failure::no_answer(fmt::format("the cache folder {} cannot be made", folder.string()));
  }
  if (state.st_uid != geteuid() || (state.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Failure::no_answer(fmt::format("the cache folder {} can be written by others: not used", folder.string()));
  }
  return folder;
}

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Which processor this is: code for one must not run on another that shares the folder.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    if (line.starts_with("model name") || line.starts_with("flags") || line.starts_with("Features"))
      text += line + "\n";
  }
  return text;
}

/// The header, and functions that do not depend on how many arrays there are.
std::string source_of(const Program& program, int lanes) {
  EmitOptions options;
  options.name = "kinegraph_program";
  options.lanes = lanes;
  std::string text = emit_header(program, options);
  const auto call = [&](const char* name, const char* function) {
    text += fmt::format("\nextern \"C\" double {}(const double* const* inputs, double* const* outputs) {{\n", name);
    text += fmt::format("  return {}(", function);
    for (std::size_t k = 0; k < program.inputs.size(); ++k) text += fmt::format("inputs[{}], ", k);
    for (std::size_t k = 0; k < program.outputs.size(); ++k) text += fmt::format("{}outputs[{}]", k ? ", " : "", k);
    text += ");\n}\n";
  };
  call("kinegraph_run", "kinegraph_program");
  if (lanes > 0) call("kinegraph_run_batch", "kinegraph_program_batch");
  return text;
}

enum class Run { done, failed, stopped };

/// Runs a program, its output into a file. Where `progress` says no, it is ended.
Run run(const std::vector<std::string>& command, const fs::path& output, const Progress& progress) {
  constexpr useconds_t kPatience = 20'000;  // µs between two looks
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int error = posix_spawn(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Run::failed;
  int status = 0;
  bool stopped = false;
  while (true) {
    const pid_t ended = waitpid(child, &status, progress && !stopped ? WNOHANG : 0);
    if (ended == child || (ended < 0 && errno != EINTR)) break;
    stopped = stopped || (progress && !progress(0));
    if (stopped) {
      kill(child, SIGTERM);
    } else if (ended == 0) {
      usleep(kPatience);
    }
  }
  stopped = stopped || (progress && !progress(1));  // Ctrl-C ends the compiler, too
  if (stopped) return Run::stopped;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Run::done : Run::failed;
}

/// The first lines that say why.
std::string said(const fs::path& output) {
  constexpr int kLines = 6;
  std::ifstream file(output);
  std::string text;
  int lines = 0;
  for (std::string line; lines < kLines && std::getline(file, line); ++lines) text += "\n  " + line.substr(0, 300);
  return text.empty() ? " (it said nothing)" : "; it said:" + text;
}

/// What is written after the source in the cache: whether the library beside it is the one that was made.
std::string record_of(const std::string& source, const fs::path& library) {
  const std::string bytes = read_all(library);
  return fmt::format("{}\n// library: {} bytes, {:016x}\n", source, bytes.size(), checksum(bytes));
}

/// Library and record under temporary names, then renamed: the record last.
Result<std::monostate> compile(const std::string& compiler, const std::string& source, const fs::path& stem,
                               const Progress& progress) {
  static std::atomic<int> count{0};
  const std::string own = fmt::format("{}.{}.{}", stem.string(), getpid(), count++);
  const fs::path code = own + ".cpp", library = own + ".so", output = own + ".log";
  const auto write = [&](const std::string& text) {
    return static_cast<bool>(std::ofstream(code, std::ios::binary) << text << std::flush);
  };
  std::vector<std::string> command{compiler};
  for (const std::string& flag : flags()) command.push_back(flag);
  command.insert(command.end(), {"-o", library.string(), code.string()});
  Result<std::monostate> done = std::monostate{};
  std::error_code error;
  if (!write(source)) {
    done = Failure::no_answer(fmt::format("{} cannot be written", code.string()));
  } else if (const Run end = run(command, output, progress); end != Run::done) {
    if (end == Run::stopped) {
      done = Failure::interrupted();
    } else {
      done = Failure::no_answer(
          fmt::format("the compiler {} could not compile the generated code{}", compiler, said(output)));
    }
  } else if (!write(record_of(source, library)) || (fs::rename(library, stem.string() + ".so", error), error) ||
             (fs::rename(code, stem.string() + ".cpp", error), error)) {
    done = Failure::no_answer(fmt::format("{} cannot be written", stem.string()));
  }
  for (const fs::path& temporary : {code, library, output}) fs::remove(temporary, error);
  return done;
}

}  // namespace

bool Compiled::load(bool batch) {
  if (library_ != nullptr) dlclose(library_);
  library_ = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) return false;
  function_ = reinterpret_cast<Function>(dlsym(library_, "kinegraph_run"));
  batch_ = reinterpret_cast<Function>(dlsym(library_, "kinegraph_run_batch"));
  return function_ != nullptr && (!batch || batch_ != nullptr);
}

Result<std::shared_ptr<const Compiled>> Compiled::make(const Program& program, int lanes, const Progress& progress) {
  const std::string compiler = find_compiler();
  if (compiler.empty()) return Failure::no_answer("no C++ compiler was found (KINEGRAPH_CXX, CXX, c++, g++, clang++)");
  const Result<fs::path> folder = cache_folder();
  if (!folder) return folder.failure();
  const std::string source = source_of(program, lanes);
  std::string key = compiler + "\n" + processor();
  for (const std::string& flag : flags()) key += flag + " ";
  key += source;
  const fs::path stem = *folder / fmt::format("{:016x}{:016x}", checksum(key), checksum(key, 0x100000001b3));

  std::shared_ptr<Compiled> compiled(new Compiled());
  compiled->file_ = stem.string() + ".so";
  compiled->compiler_ = compiler;
  std::error_code ignored;
  compiled->was_cached_ = fs::exists(compiled->file_, ignored) &&
                          read_all(stem.string() + ".cpp") == record_of(source, compiled->file_) &&
                          compiled->load(lanes > 0);
  if (compiled->was_cached_) return std::shared_ptr<const Compiled>(std::move(compiled));
  if (auto done = compile(compiler, source, stem, progress); !done) return done.failure();
  if (!compiled->load(lanes > 0)) {
    const char* why = dlerror();
    return Failure::no_answer(
        fmt::format("the compiled code {} cannot be loaded: {}", compiled->file_, why ? why : "it lacks a function"));
  }
  return std::shared_ptr<const Compiled>(std::move(compiled));
}

Compiled::~Compiled() {
  if (library_ != nullptr) dlclose(library_);
}

}  // namespace kinegraph::codegen
