#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "bench/clock.hpp"

namespace kinegraph::bench {

inline double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<long>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

/// One way to do something: `run(i)` does it for state i.
struct Runner {
  std::string name;
  std::function<void(int)> run;
};

struct Timing {
  double ns = 0;     ///< per call, the median
  double ratio = 1;  ///< time of the first runner over that of this one: median over the rounds
};

/// Times all runners by turns, A B C A B C …, each over all states: what disturbs one disturbs the others alike.
inline std::vector<Timing> race(const std::vector<Runner>& runners, int states, double seconds) {
  const auto lap = [&](const Runner& runner, int repeats) {
    const double begin = cpu_seconds();
    for (int r = 0; r < repeats; ++r) {
      for (int i = 0; i < states; ++i) runner.run(i);
    }
    return (cpu_seconds() - begin) / (static_cast<double>(repeats) * states);
  };
  double sum = 0;
  for (const Runner& runner : runners) lap(runner, 2), sum += lap(runner, 2);
  // A lap of about 50 µs at least: the clock itself costs a fraction of a microsecond.
  const double mean = states * sum / static_cast<double>(runners.size());
  const int repeats = std::max(1, static_cast<int>(50e-6 / mean));
  const int rounds = std::clamp(static_cast<int>(seconds / (states * sum * repeats)), 15, 2000);
  std::vector<std::vector<double>> times(runners.size()), ratios(runners.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < runners.size(); ++k) {
      times[k].push_back(lap(runners[k], repeats));
      ratios[k].push_back(times[0].back() / times[k].back());
    }
  }
  std::vector<Timing> answer;
  for (std::size_t k = 0; k < runners.size(); ++k) answer.push_back({1e9 * median(times[k]), median(ratios[k])});
  return answer;
}

}  // namespace kinegraph::bench
