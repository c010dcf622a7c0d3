#include "progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>

#include "kinegraph/io/output.hpp"

namespace kinegraph::cli {
namespace {

constexpr auto kBeforeFirst = std::chrono::milliseconds(500);
constexpr auto kBetween = std::chrono::milliseconds(100);
constexpr int kWidth = 40;
constexpr int kInterruptedStatus = 130, kInternalStatus = 3;

std::atomic<bool> asked_to_stop{false};

extern "C" void on_interrupt(int) {
  if (!asked_to_stop.exchange(true)) return;
  remove_unfinished_outputs();
  _exit(kInterruptedStatus);
}

/// A crash keeps the promises too: nothing half written stays, and the status says whose fault it is.
extern "C" void on_crash(int) {
  remove_unfinished_outputs();
  constexpr char kText[] =
      "error: internal fault: the program crashed\n"
      "This is a fault of kinegraph, not of your input. Please report it with the command and the model.\n";
  [[maybe_unused]] const ssize_t told = ::write(STDERR_FILENO, kText, sizeof(kText) - 1);
  _exit(kInternalStatus);
}

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);  // nohup, and shells for what runs behind
  }
  // A stack of its own: what overflowed the other one must still be told.
  static std::array<char, std::size_t{1} << 16> stack;
  stack_t own{};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  sigaltstack(&own, nullptr);
  struct sigaction crash {};
  crash.sa_handler = on_crash;
  crash.sa_flags = SA_ONSTACK;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(number, &crash, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT: a closed pipe is told by write()
  std::signal(SIGXFSZ, SIG_IGN);  // NOLINT: and so is a file that grows beyond its limit
}

bool interrupted(const Embedding* embedding) {
  return asked_to_stop || (embedding && embedding->stopped && embedding->stopped());
}

std::string duration(double s) {
  const long whole = std::lround(s);
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

Done print(const std::string& text) {
  std::fflush(stdout);
  return write_file("-", text);
}

void say(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

ProgressBar::ProgressBar(std::string label, const CommonOptions& options)
    : label_(std::move(label)),
      embedding_(options.embedding),
      enabled_(!options.quiet && !embedding_ && isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      next_(start_ + kBeforeFirst) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  if (drawn_) say("\r\033[K");
  drawn_ = false;
}

bool ProgressBar::update(double share) {
  if (interrupted(embedding_)) return false;
  if (!enabled_) return true;
  const Clock::time_point now = Clock::now();
  if (now >= next_) {
    draw(std::clamp(share, 0.0, 1.0), std::chrono::duration<double>(now - start_).count());
    next_ = now + kBetween;
  }
  return true;
}

void ProgressBar::draw(double share, double elapsed_s) {
  std::string bar;
  const int full = static_cast<int>(share * kWidth);
  for (int i = 0; i < kWidth; ++i) bar += i < full ? "━" : "─";
  const std::string left = !note_.empty() ? "  " + note_
                           : share > 0.01 ? fmt::format("  {} left", duration(elapsed_s / share - elapsed_s))
                                          : "";
  say(fmt::format("\r{} {} {:3.0f} %{}\033[K", label_, bar, 100 * share, left));
  drawn_ = true;
}

}  // namespace kinegraph::cli
