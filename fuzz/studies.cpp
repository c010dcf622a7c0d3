/// The reader of studies of many cases.
#include <cmath>

#include "fuzz/targets.hpp"
#include "kinegraph/ensemble/study_file.hpp"

namespace kinegraph::fuzz {
namespace {

void check_values(const ensemble::Varied& varied) {
  if (const auto* grid = std::get_if<ensemble::Grid>(&varied.values)) {
    check(grid->count > 0, "a grid has values");
    for (const std::uint64_t i : {std::uint64_t{0}, grid->count / 2, grid->count - 1}) {
      check(std::isfinite(grid->at(i)), "the values of a grid are finite");
    }
  } else if (const ensemble::Distribution* drawn = varied.distribution()) {
    double last = -HUGE_VAL;
    for (const double u : {1e-12, 0.25, 0.5, 0.75, 1 - 1e-12}) {
      const double value = drawn->quantile(u);
      check(std::isfinite(value) && value >= last, "quantiles are finite and increase");
      last = value;
    }
  } else {
    check(!std::get<ensemble::Choices>(varied.values).texts.empty(), "a list has values");
  }
}

}  // namespace

void read_study(const std::string& text) {
  const Result<ensemble::Study> study = ensemble::parse_study(text, "study.yaml");
  if (!study) return check_refusal(study.failure());
  check(study->samples > 0 && study->repetitions > 0, "an accepted study has cases");
  check(!study->outputs.empty(), "an accepted study has outputs");
  for (const ensemble::Varied& varied : study->vary) check_values(varied);
  check(study->content().size() >= 6, "a study has a content");
}

}  // namespace kinegraph::fuzz
