#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include "progress_bar.hpp"
#include "verb.hpp"

int main(int argc, char** argv) {
  using kinegraph::Failure;
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
