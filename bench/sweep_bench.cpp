// The tolerance study of models/studies on one thread, on two, and as two processes of mpirun: does a sweep scale, and
// is the table the same, byte for byte? Rates are by the clock on the wall, because scaling is what is measured: on a
// machine with other work they tell of that. With --strict the exit status is 1 if a target is missed.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/table.hpp"

namespace kinegraph::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kSpeedUp = 1.9;
constexpr int kAll = 10'000, kShare = 500;  // cases; the latter with --quick

/// Not std::exit(): the folder is removed on the way out.
[[noreturn]] void stop(const std::string& why) { throw std::runtime_error(why); }

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) stop("cannot read " + path.filename().string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder of its own; removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "kinegraph_sweep_bench_XXXXXX").string();
    if (!::mkdtemp(name.data())) stop("cannot make a folder");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void write_study(const Folder& folder, int cases) {
  const fs::path studies = KINEGRAPH_SOURCE_DIR "/models/studies";
  std::string study = read(studies / "fourbar_tolerance.yaml");
  const auto change = [&](const std::string& from, const std::string& to) {
    const std::size_t at = study.find(from);
    if (at == std::string::npos) stop("the study has no line " + from);
    study.replace(at, from.size(), to);
  };
  change("model: ../", "model: " + (studies / "..").string() + "/");
  change(fmt::format("samples: {}\n", kAll), fmt::format("samples: {}\n", cases));
  std::ofstream(folder.path() / "study.yaml") << study;
}

struct Run {
  double rate = 0;  // cases/s, as the program tells it: from the first case to the last
  double whole_s = 0, processor_s = 0;
  std::string table;
};

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

Run run(const Folder& folder, const std::string& before, int threads) {
  const std::string command =
      fmt::format("cd '{}' && {} '{}' sweep study.yaml --out table.csv --json summary.json --threads {} --quiet > log",
                  folder.path().string(), before, KINEGRAPH_PROGRAM, threads);
  const auto begun = std::chrono::steady_clock::now();
  const double processor = processor_seconds();
  if (std::system(command.c_str()) != 0) stop("a sweep failed");
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begun;
  const auto summary = nlohmann::json::parse(read(folder.path() / "summary.json"));
  return {summary.at("rate").get<double>(), whole.count(), processor_seconds() - processor,
          read(folder.path() / "table.csv")};
}

struct Way {
  const char* name;
  std::string before;  // the program's name
  int threads = 1;
};

/// What Open MPI (4 and 5) is told by its environment, others need not be: two processes, whoever runs them, wherever.
constexpr const char* kTwoProcesses =
    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
    "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe mpirun -n 2";

std::vector<Way> ways() {
  std::vector<Way> all{{"one thread", "", 1}, {"two threads", "", 2}};
  const bool possible = std::system("mpirun --version > /dev/null 2>&1") == 0 &&
                        fs::exists(fs::path(KINEGRAPH_PROGRAM).replace_filename("kinegraph_mpi.so"));
  if (possible) all.push_back({"mpirun -n 2", kTwoProcesses, 1});
  return all;
}

int scaling() {
  const int cases = quick() ? kShare : kAll;
  const Folder folder;
  write_study(folder, cases);
  section(fmt::format("scaling: {} cases of models/studies/fourbar_tolerance.yaml, by the clock on the wall", cases));
  const MarkdownTable table(
      {"           ", "cases/s", "vs one thread", "target", "table", "whole s", "processor s", "    "});
  int failed = 0;
  Run one;
  const std::vector<Way> all = ways();
  for (const Way& way : all) {
    const Run now = run(folder, way.before, way.threads);
    const bool first = one.rate == 0;
    if (first) one = now;
    const double ratio = now.rate / one.rate;
    const bool same = now.table == one.table, fine = same && (first || ratio >= kSpeedUp);
    failed += !fine;
    const std::string target = first ? "-" : fmt::format(">= {}", kSpeedUp), verdict = fine ? "pass" : "FAIL";
    table.row({way.name, fmt::format("{:.1f}", now.rate), fmt::format("{:.2f}", ratio), target,
               same ? "same" : "OTHER", fmt::format("{:.1f}", now.whole_s), fmt::format("{:.1f}", now.processor_s),
               first ? "" : verdict});
  }
  if (all.size() < 3) fmt::print("\nNo mpirun, or built without MPI: processes were not measured.\n");
  if (std::thread::hardware_concurrency() < 2) fmt::print("\nThis machine has one processor: nothing can scale.\n");
  return failed;
}

}  // namespace
}  // namespace kinegraph::bench

int main(int argc, char** argv) {
  const bool strict = argc > 1 && std::string(argv[1]) == "--strict";
  try {
    return kinegraph::bench::scaling() > 0 && strict ? 1 : 0;
  } catch (const std::exception& fault) {
    fmt::print(stderr, "sweep_bench: {}\n", fault.what());
    return 1;
  }
}
