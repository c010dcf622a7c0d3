#include "memory.hpp"

#include <gtest/gtest.h>

namespace kinegraph::cli::memory_test {
namespace {

TEST(Memory, ATableOfTheProgramIsReadAsAFileIs) {
  Embedding embedding;
  embedding.given["<motion>"] = "t,theta.q\n0,0.5\n0.1,0.6\n";
  const auto table = read_table(&embedding, "<motion>");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->names(), std::vector<std::string>{"theta.q"});
  EXPECT_EQ(table->at(1, 0), 0.6);
  EXPECT_EQ(table->resolution[0], 0);  // exact, though it has but one digit
  embedding.given["<motion>"] = "t,theta.q\n0,0.5\n0,x\n";
  EXPECT_EQ(read_table(&embedding, "<motion>").failure().to_string(),
            "<motion>:3:3: error: expected a number for 'theta.q', found 'x'");
  EXPECT_FALSE(read_table(&embedding, "<other>"));
  EXPECT_FALSE(read_table(nullptr, "<motion>"));  // a shell means a file
}

TEST(Memory, WhatIsWrittenGoesToTheProgram) {
  Embedding embedding;
  auto file = SideFile::create(&embedding, "<sensors>");
  ASSERT_TRUE(file);
  Trajectory table({"a"});
  *table.append(0) = 1;
  ASSERT_TRUE(file->write(table, {}, false));
  EXPECT_EQ(embedding.tables.at("<sensors>").at(0, 0), 1);
  auto text = SideFile::create(&embedding, "<out>");
  ASSERT_TRUE(text && text->write("words"));
  EXPECT_EQ(embedding.texts.at("<out>"), "words");
  EXPECT_FALSE(SideFile::create(&embedding, "/nowhere/at/all.csv"));
}

}  // namespace
}  // namespace kinegraph::cli::memory_test
