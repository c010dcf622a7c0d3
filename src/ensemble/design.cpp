#include "kinegraph/ensemble/design.hpp"

#include <fmt/format.h>

#include "kinegraph/base/random.hpp"

namespace kinegraph::ensemble {
namespace {

// Streams of random numbers that do not overlap: the seeds of cases, the orders of a hypercube; draws are numbered by
// sample.
constexpr std::uint64_t kSeeds = 0x5eed'0000'0000'0000, kOrders = 0x0de5'0000'0000'0000;

std::uint64_t size(const Varied& varied) {
  if (const auto* grid = std::get_if<Grid>(&varied.values)) return grid->count;
  if (const auto* list = std::get_if<Choices>(&varied.values)) return list->texts.size();
  return 1;
}

}  // namespace

Design::Design(const Study& study) : study_(study), cases_(study.samples * study.repetitions) {
  for (const Varied& varied : study.vary) cases_ *= size(varied);
  const std::size_t dimensions = study.distributions();
  if (study.design == Study::Joint::sobol) sobol_.emplace(dimensions, study.seed);
  if (study.design == Study::Joint::latin_hypercube) {
    for (std::size_t d = 0; d < dimensions; ++d) permutations_.emplace_back(study.samples, study.seed, kOrders + d);
  }
}

double Design::draw(std::uint64_t sample, std::size_t dimension) const {
  if (sobol_) return sobol_->at(sample, dimension);
  // (k + ½) 2⁻⁵², never 0 or 1
  const std::uint64_t bits = Random(study_.seed, sample, static_cast<std::uint32_t>(dimension)).bits() >> 12;
  const double u = (static_cast<double>(bits) + 0.5) * 0x1p-52;
  if (permutations_.empty()) return u;
  // One draw in each of n equal parts.
  const double part = (static_cast<double>(permutations_[dimension](sample)) + u) / static_cast<double>(study_.samples);
  return std::min(part, 1 - 0x1p-53);
}

Case Design::at(std::uint64_t number) const {
  Case made;
  made.number = number;
  made.seed = Random::block(study_.seed, {number, kSeeds}).a >> 11;
  std::uint64_t rest = number / study_.repetitions;
  made.repetition = number % study_.repetitions;
  const std::uint64_t sample = rest % study_.samples;
  rest /= study_.samples;
  made.values.resize(study_.vary.size());
  std::size_t dimension = study_.distributions();
  for (std::size_t i = study_.vary.size(); i-- > 0;) {
    const Varied& varied = study_.vary[i];
    if (const Distribution* distribution = varied.distribution()) {
      made.values[i] = fmt::format("{}", distribution->quantile(draw(sample, --dimension)));
      continue;
    }
    const std::uint64_t digit = rest % size(varied);
    rest /= size(varied);
    const auto* grid = std::get_if<Grid>(&varied.values);
    made.values[i] = grid ? fmt::format("{}", grid->at(digit)) : std::get<Choices>(varied.values).texts[digit];
  }
  return made;
}

}  // namespace kinegraph::ensemble
