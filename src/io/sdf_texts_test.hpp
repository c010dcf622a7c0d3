#pragma once

#include <gtest/gtest.h>

#include "kinegraph/io/sdf.hpp"

/// Short SDF files, and what is said of them.
namespace kinegraph::sdf_texts {

inline std::string in_model(const std::string& content, const std::string& version = "1.9") {
  return "<sdf version=\"" + version + "\">\n<model name=\"m\">\n" + content + "</model>\n</sdf>\n";
}

inline Model parse(const std::string& text, const ReadOptions& options = {}) {
  Result<Model> model = parse_sdf(text, "m.sdf", options);
  EXPECT_TRUE(model.ok()) << (model ? "" : model.failure().to_string());
  return model ? *model : Model{};
}

inline std::string faults(const std::string& text, const ReadOptions& options = {}) {
  const Result<Model> model = parse_sdf(text, "m.sdf", options);
  if (model) return "accepted";
  EXPECT_EQ(model.failure().exit_status(), 2);
  return model.failure().to_string();
}

inline std::string warnings(const Model& model) {
  std::string text;
  for (const Diagnostic& warning : model.warnings) text += to_string(warning) + "\n";
  return text;
}

inline const std::string kTwoLinks = "<link name=\"a\"><inertial/></link>\n<link name=\"b\"><inertial/></link>\n";

}  // namespace kinegraph::sdf_texts
