#include "kinegraph/ensemble/study_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "kinegraph/ensemble/study_schema.hpp"

namespace kinegraph::ensemble::study_file_test {
namespace {

const char* const kGood = R"(
verb: simulate
model: fourbar.yaml
design: sobol
samples: 8
repetitions: 2
seed: 7
options: {time: 2, step: 1ms, reactions: true, set: {theta.v: 60rpm}, soft-scale: [dynamics=1, prior=2]}
vary:
  crank_length: {distribution: normal, mean: 1, sd: 1mm, low: 0.99}
  rocker.mass: {distribution: uniform, low: 3.9, high: 4.1}
  theta.q: {from: 0, to: 90deg, count: 4}
  span: {from: 3.8, to: 4.2, step: 0.1}
  --integrator: [trapezoidal, hermite-simpson]
outputs: {drift: energy_drift, peak: columns.theta.v.max}
)";

std::string faults(const std::string& text) {
  const Result<Study> study = parse_study(text, "s.yaml");
  return study ? "none" : study.failure().to_string();
}

TEST(StudyFile, ReadsEveryPart) {
  const Result<Study> read = parse_study(kGood, "s.yaml");
  ASSERT_TRUE(read) << read.failure().to_string();
  EXPECT_EQ(read->verb.text, "simulate");
  EXPECT_EQ(read->design, Study::Joint::sobol);
  EXPECT_EQ(read->samples, 8U);
  EXPECT_EQ(read->seed, 7U);
  ASSERT_EQ(read->options.size(), 5U);
  EXPECT_EQ(read->options[3].values[0].text, "theta.v=60rpm");
  EXPECT_EQ(read->options[4].values.size(), 2U);
  ASSERT_EQ(read->vary.size(), 5U);
  EXPECT_DOUBLE_EQ(read->vary[0].distribution()->sd, 1e-3);
  const Grid& angle = std::get<Grid>(read->vary[2].values);
  EXPECT_DOUBLE_EQ(angle.at(1), M_PI / 6);
  EXPECT_EQ(angle.at(3), std::get<Grid>(read->vary[2].values).to);
  EXPECT_EQ(std::get<Grid>(read->vary[3].values).count, 5U);  // 3.8 … 4.2, rounding or not
  EXPECT_TRUE(read->vary[4].option);
  EXPECT_EQ(read->outputs[1].name, "peak");
  EXPECT_EQ(read->outputs[1].path.text, "columns.theta.v.max");
}

/// Numbers and words as they are written, with their places, in every form; and which of them the cases have.
TEST(StudyFile, KeepsWordsAsWritten) {
  const Result<Study> read = parse_study(
      "verb: check\nmodel: m.yaml\nsamples: 2\noutputs: [mass]\nvary:\n"
      "  --a: [1ms, 2kg]\n"
      "  --b: {list: [1ms, word]}\n"
      "  c: {list: [1mm, 2deg]}\n"
      "  --d: {from: 1mm, to: 3mm, step: 1mm}\n"
      "  --e: {from: 1mm, to: 3mm, count: 3}\n"
      "  --f: {distribution: normal, mean: 1ms, sd: 1us, low: 0ms, high: 2ms}\n",
      "s.yaml");
  ASSERT_TRUE(read) << read.failure().to_string();
  std::string words;
  for (const Varied& varied : read->vary) {
    words += varied.written() + ":";
    for (const Word& word : varied.words) {
      words += " " + word.text + (word.met ? "" : "?") + "@" + std::to_string(word.where.column);
    }
    words += "\n";
  }
  EXPECT_EQ(words,
            "--a: 1ms@9 2kg@14\n"
            "--b: 1ms@16 word@21\n"
            "c: 1mm@14 2deg@19\n"
            "--d: 1mm@15 3mm?@24 1mm?@35\n"
            "--e: 1mm@15 3mm@24\n"
            "--f: 1ms?@37 1us?@46 0ms?@56 2ms?@67\n");
  EXPECT_EQ(std::get<Choices>(read->vary[2].values).texts, (std::vector<std::string>{"0.001", "0.03490658503988659"}));
}

TEST(StudyFile, ContentTellsStudiesApartButNotComments) {
  const std::string text = kGood;
  const auto content = [](const std::string& of) { return parse_study(of, "s.yaml")->content(); };
  EXPECT_EQ(content(text), content(text + "# a comment\n"));
  for (const auto& [from, to] : {std::pair{"samples: 8", "samples: 9"},
                                 {"seed: 7", "seed: 8"},
                                 {"1mm", "2mm"},
                                 {"step: 0.1", "step: 0.2"},
                                 {"60rpm", "61rpm"},
                                 {"drift:", "worst:"}}) {
    std::string changed = text;
    changed.replace(changed.find(from), std::string(from).size(), to);
    EXPECT_NE(content(text), content(changed)) << to;
  }
}

TEST(StudyFile, NamesAllFaultsWithTheirPlaces) {
  EXPECT_EQ(
      faults(R"(verb: simulate
modle: fourbar.yaml
design: sobl
samples: 0
vary:
  a: {from: 0, to: 1, count: 0}
  b: {from: 0, to: 1, step: -0.1}
  c: []
  d: {distribution: normal, mean: 1, sd: -1}
  e: {distribution: uniform, low: 2, high: 1}
  f: {distribution: gauss}
  g: {from: 0, to: 1}
  h: {from: 0, distribution: normal, mean: 0, sd: 1}
  i: {distribution: normal, mean: 1}
  j: [1, fast]
  k: 3
  l: {from: 0, to: 1, count: 3, spacing: log}
  d: [1]
outputs: []
)"),
      "s.yaml:1:1: error: missing key 'model' of a study: the machine's file (of plan the task's), relative to the "
      "study's\n"
      "s.yaml:2:1: error: unknown key 'modle' of a study; did you mean 'model'?\n"
      "s.yaml:3:9: error: design: unknown 'sobl'; did you mean 'sobol'?\n"
      "s.yaml:4:10: error: samples: must be a whole number from 1 to 1000000000000, is 0\n"
      "s.yaml:6:30: error: count: must be a whole number from 1 to 1000000000000, is 0\n"
      "s.yaml:7:29: error: step: the grid is empty: no step of -0.1 leads from 0 to 1\n"
      "s.yaml:8:6: error: c: the list is empty\n"
      "s.yaml:9:42: error: sd: must be > 0, is -1\n"
      "s.yaml:10:44: error: high: must be > low, which is 2, is 1\n"
      "s.yaml:11:21: error: distribution: unknown 'gauss'; expected one of normal, uniform, log-uniform\n"
      "s.yaml:12:6: error: a grid needs either count (how many values) or step (the distance between two)\n"
      "s.yaml:13:6: error: h: expected one of a grid (from, to, count or step), a list, a distribution\n"
      "s.yaml:14:6: error: missing key 'sd' of this distribution\n"
      "s.yaml:15:10: error: expected a number, found the name 'fast'\n"
      "s.yaml:16:6: error: k: expected a list [a, b, …] or a map such as {from: 0, to: 1, count: 11} or "
      "{distribution: normal, mean: 1, sd: 0.1}, found '3'\n"
      "s.yaml:17:42: error: spacing: log needs from and to > 0\n"
      "s.yaml:18:3: error: duplicate key 'd'\n"
      "s.yaml:19:10: error: outputs: the list is empty");
}

TEST(StudyFile, SamplesBelongToDistributions) {
  const std::string head = "verb: check\nmodel: m.yaml\noutputs: [mass]\n";
  EXPECT_EQ(faults(head + "vary: {L: {distribution: normal, mean: 1, sd: 1}}\n"),
            "s.yaml:1:1: error: missing key 'samples' of a study with distributions: how many draws of them");
  EXPECT_EQ(faults(head + "samples: 3\n"), "s.yaml:4:10: error: samples: nothing under vary has a distribution");
  EXPECT_EQ(faults(head + "vary: {L: {from: 0, to: 1, count: 1e9}, M: {from: 0, to: 1, count: 1e9}}\n"),
            "s.yaml:1:1: error: the study has 1e+18 cases; 1e+12 are possible");
  EXPECT_EQ(faults("verb: check\nmodel: m.yaml\n"),
            "s.yaml:1:1: error: missing key 'outputs' of a study: which numbers of the summary are kept");
  EXPECT_EQ(faults(head + "vary: {status: [1], mass: [1, 2]}\n"),
            "s.yaml:4:8: error: 'status' is a column of its own of the table\n"
            "s.yaml:4:21: error: 'mass' is an output, too: give that another name, {name: path}");
}

TEST(StudyFile, RefusesWhatNoNumberHolds) {
  const std::string head = "verb: check\nmodel: m.yaml\noutputs: [mass]\n";
  EXPECT_EQ(faults(head + "vary: {L: {from: -1e308, to: 1e51, count: 3}}\n"),
            "s.yaml:4:18: error: from: must be from -1e+50 to 1e+50, is -1e308\n"
            "s.yaml:4:30: error: to: must be from -1e+50 to 1e+50, is 1e51");
  EXPECT_EQ(faults(head + "vary: {L: {from: -1e50, to: 1e50, count: 3}}\n"), "none");
  EXPECT_EQ(faults(head + "vary: {L: {from: 1e-300, to: 1e50, count: 3, spacing: log}}\n"),
            "s.yaml:4:30: error: to: too far from `from` for a number");
  EXPECT_EQ(faults(head + "vary: {L: {from: 1e50, to: 1e-300, count: 3, spacing: log}}\n"),
            "s.yaml:4:28: error: to: too far from `from` for a number");
  const std::string draws = head + "samples: 3\nvary: {L: {distribution: ";
  EXPECT_EQ(faults(draws + "normal, mean: 1, sd: 1e307}}\n"),
            "s.yaml:5:47: error: sd: must be from -1e+50 to 1e+50, is 1e307");
  EXPECT_EQ(faults(draws + "normal, mean: 1, sd: 1e-60}}\n"),
            "s.yaml:5:47: error: sd: must be at least 1e-50, is 1e-60");
  EXPECT_EQ(faults(draws + "uniform, low: -1e50, high: 1e50}}\n"), "none");
  EXPECT_EQ(faults(draws + "log-uniform, low: 1e-300, high: 1e50}}\n"),
            "s.yaml:5:58: error: high: too far from `low` for a number");
}

/// 100 000 names, one of them with a control character and of a thousand letters: told briefly, and soon.
TEST(StudyFile, HostileNamesAreShownShort) {
  std::string text =
      "verb: check\nmodel: m.yaml\noutputs: [mass]\nvary:\n  \"\\x07" + std::string(1000, 'a') + "\": 1\n";
  for (int i = 0; i < 100'000; ++i) text += "  k" + std::to_string(i) + ": x\n";
  const Result<Study> study = parse_study(text, "s.yaml");
  ASSERT_FALSE(study);
  ASSERT_EQ(study.failure().diagnostics.size(), 101U);
  EXPECT_LT(study.failure().diagnostics[0].message.size(), 400U);
  EXPECT_EQ(study.failure().diagnostics[0].message.find('\x07'), std::string::npos);
  EXPECT_EQ(study.failure().diagnostics[100].message, "… and 99901 more faults");
}

TEST(StudyFile, DocumentationHasEveryKey) {
  std::ifstream file(KINEGRAPH_SOURCE_DIR "/docs/sweep.md");
  ASSERT_TRUE(file);
  std::stringstream text;
  text << file.rdbuf();
  for (const TaskSection& section : study_sections()) {
    for (const TaskKey& key : section.keys) {
      EXPECT_NE(text.str().find("`" + std::string(key.key) + "`"), std::string::npos) << key.key;
    }
  }
}

}  // namespace
}  // namespace kinegraph::ensemble::study_file_test
