#include "kinegraph/codegen/compiled.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kinegraph/codegen/emit.hpp"

extern char** environ;

namespace kinegraph::codegen {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFlags = {"-std=c++17", "-O2", "-march=native", "-fPIC", "-shared"};

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

/// The cache folder, made if need be; nobody else may write to it.
Result<fs::path> cache_folder() {
  std::string base = variable("XDG_CACHE_HOME");
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

/// FNV-1a.
std::uint64_t hash(std::string_view text, std::uint64_t start) {
  for (const char c : text) start = (start ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return start;
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

/// Runs a program, its output thrown away. True if it succeeds.
bool run(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Source and library under temporary names, then renamed: the library last.
bool compile(const std::string& compiler, const std::string& source, const fs::path& stem) {
  static std::atomic<int> count{0};
  const std::string own = fmt::format("{}.{}.{}", stem.string(), getpid(), count++);
  const fs::path code = own + ".cpp", library = own + ".so";
  bool fine = static_cast<bool>(std::ofstream(code, std::ios::binary) << source << std::flush);
  std::vector<std::string> command{compiler};
  command.insert(command.end(), kFlags.begin(), kFlags.end());
  command.insert(command.end(), {"-o", library.string(), code.string()});
  fine = fine && run(command);
  std::error_code error;
  if (fine) fs::rename(code, stem.string() + ".cpp", error);
  if (fine && !error) fs::rename(library, stem.string() + ".so", error);
  std::error_code ignored;
  fs::remove(code, ignored);
  fs::remove(library, ignored);
  return fine && !error;
}

}  // namespace

Result<std::shared_ptr<const Compiled>> Compiled::make(const Program& program, int lanes) {
  const std::string compiler = find_compiler();
  if (compiler.empty()) return Failure::no_answer("no C++ compiler was found (KINEGRAPH_CXX, CXX, c++, g++, clang++)");
  const Result<fs::path> folder = cache_folder();
  if (!folder) return folder.failure();
  const std::string source = source_of(program, lanes);
  std::string key = compiler + "\n" + processor();
  for (const std::string& flag : kFlags) key += flag + " ";
  key += source;
  const fs::path stem =
      *folder / fmt::format("{:016x}{:016x}", hash(key, 14695981039346656037ULL), hash(key, 1099511628211ULL));

  std::shared_ptr<Compiled> compiled(new Compiled());
  compiled->file_ = stem.string() + ".so";
  std::error_code ignored;
  compiled->was_cached_ = fs::exists(compiled->file_, ignored) && read_all(stem.string() + ".cpp") == source;
  if (!compiled->was_cached_ && !compile(compiler, source, stem)) {
    return Failure::no_answer(fmt::format("the compiler {} could not compile the generated code", compiler));
  }
  compiled->library_ = dlopen(compiled->file_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (compiled->library_ != nullptr) {
    compiled->function_ = reinterpret_cast<Function>(dlsym(compiled->library_, "kinegraph_run"));
    compiled->batch_ = reinterpret_cast<Function>(dlsym(compiled->library_, "kinegraph_run_batch"));
  }
  if (compiled->function_ == nullptr || (lanes > 0 && compiled->batch_ == nullptr)) {
    return Failure::no_answer(fmt::format("the compiled code {} cannot be loaded", compiled->file_));
  }
  return std::shared_ptr<const Compiled>(std::move(compiled));
}

Compiled::~Compiled() {
  if (library_ != nullptr) dlclose(library_);
}

}  // namespace kinegraph::codegen
