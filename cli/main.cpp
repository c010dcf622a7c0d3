#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include "progress_bar.hpp"
#include "verb.hpp"

namespace {

/// Where standard input, output or error is closed the next file opened would take its place: messages would go into a
/// table. What takes it instead cannot be read or written either, and who tries is told.
bool hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    if (open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  using kinegraph::Failure;
  if (!hold_standard_streams()) return EXIT_FAILURE;  // nobody can be told
  try {
    kinegraph::cli::catch_signals();
    return kinegraph::cli::run_command(argc > 0 ? argv[0] : "kinegraph", {argv + (argc > 0 ? 1 : 0), argv + argc});
  } catch (const std::bad_alloc&) {
    const Failure failure = Failure::no_answer("not enough memory for a problem of this size");
    kinegraph::cli::say(failure.to_string() + "\n");
    return failure.exit_status();
  } catch (const std::exception& fault) {
    const auto* of_system = dynamic_cast<const std::system_error*>(&fault);
    if (of_system && of_system->code() == std::errc::broken_pipe) return EXIT_FAILURE;  // nobody is there to be told
    const Failure failure = Failure::internal(fault.what());
    kinegraph::cli::say(fmt::format(
        "{}\nThis is a fault of kinegraph, not of your input. Please report it with the command and the model.\n",
        failure.to_string()));
    return failure.exit_status();
  }
}
