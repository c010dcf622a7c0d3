#include "kinegraph/io/csv.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "kinegraph/base/largest.hpp"
#include "kinegraph/io/line_reader.hpp"
#include "kinegraph/io/number_text.hpp"

namespace kinegraph::csv_test {
namespace {

Result<Trajectory> parse(const std::string& text, std::vector<std::string> columns = {}) {
  CsvOptions options;
  options.columns = std::move(columns);
  return parse_csv(text, "m.csv", options);
}

std::string faults(const std::string& text, std::vector<std::string> columns = {}) {
  const auto result = parse(text, std::move(columns));
  if (result) return "no fault";
  EXPECT_EQ(result.failure().kind, Failure::Kind::bad_input);
  return result.failure().to_string();
}

TEST(Csv, ReadsHeaderAndRows) {
  const auto table = parse("t,theta.q,P1.x\n0,1.5,-2\n0.5,2.25,+3e-1\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->names(), (std::vector<std::string>{"theta.q", "P1.x"}));
  EXPECT_EQ(table->times(), (std::vector<double>{0, 0.5}));
  EXPECT_EQ(table->column(0), (std::vector<double>{1.5, 2.25}));
  EXPECT_EQ(table->column(1), (std::vector<double>{-2, 0.3}));
  EXPECT_EQ(table->file, "m.csv");
  EXPECT_EQ(table->header_line, 1);
  EXPECT_EQ(table->lines, (std::vector<int>{2, 3}));
  EXPECT_EQ(table->columns, (std::vector<int>{3, 11}));
}

TEST(Csv, ToleratesBomCarriageReturnsQuotesBlanksAndComments) {
  const auto table = parse("\xEF\xBB\xBF# made by hand\r\n\r\n\"time\" , \"theta.q\"\r\n 0 , \"1\" \r\n% pause\r\n1,2");
  ASSERT_TRUE(table) << table.failure().to_string();
  EXPECT_EQ(table->names(), (std::vector<std::string>{"theta.q"}));
  EXPECT_EQ(table->column(0), (std::vector<double>{1, 2}));
  EXPECT_EQ(table->header_line, 3);
  EXPECT_EQ(table->lines, (std::vector<int>{4, 6}));
}

TEST(Csv, ReadsTablesBetweenBlanksOrTabs) {
  const auto blanks = parse("% timestamp  angle\n   0.0000000e+00   0.0000000e+00\n   5.0000000e-03   5.9999500e-05\n",
                            {"t", "theta.q"});
  ASSERT_TRUE(blanks) << blanks.failure().to_string();
  EXPECT_EQ(blanks->column(0), (std::vector<double>{0, 5.99995e-05}));
  EXPECT_EQ(blanks->header_line, 2);
  EXPECT_EQ(blanks->columns, (std::vector<int>{20}));

  const auto tabs = parse("t\ta\tb\n0\t1\t2\n1\t3\t4\n");
  ASSERT_TRUE(tabs) << tabs.failure().to_string();
  EXPECT_EQ(tabs->column(1), (std::vector<double>{2, 4}));
}

// Two tabs stand about an empty field, unless they only align the columns.
TEST(Csv, TabsMayLeaveFieldsEmpty) {
  CsvOptions options;
  options.may_be_empty = [](const std::string&) { return true; };
  const auto gaps = parse_csv("t\ta\tb\n0\t1\t2\n1\t\t4\n2\t5\t\n3 \t 7 \t 8\n", "m.csv", options);
  ASSERT_TRUE(gaps) << gaps.failure().to_string();
  ASSERT_EQ(gaps->samples(), 4);
  EXPECT_TRUE(std::isnan(gaps->at(1, 0)));
  EXPECT_EQ(gaps->at(1, 1), 4);
  EXPECT_EQ(gaps->at(2, 0), 5);
  EXPECT_TRUE(std::isnan(gaps->at(2, 1)));
  EXPECT_EQ(gaps->at(3, 1), 8);
  const auto strict = parse("t\ta\tb\n0\t\t2\n");
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.failure().to_string(), "m.csv:2:3: error: expected a number for 'a', found nothing");
  for (const char* text : {"t\t\ta\tb\n0\t\t1\t2\n", "t\ta\tb\n0\t\t1\t2\n", "t\ta\tb\n0\t1\t2\t\n"}) {
    const auto aligned = parse(text);
    ASSERT_TRUE(aligned) << aligned.failure().to_string();
    EXPECT_EQ(aligned->at(0, 1), 2);
  }
}

TEST(Csv, ColumnsRenameAndLeaveOut) {
  const auto table = parse("t,theta,comment,torque\n0,1,none,3\n1,4,none,6\n", {"t", "crank.q", "-", "crank.tau"});
  ASSERT_TRUE(table) << table.failure().to_string();
  EXPECT_EQ(table->names(), (std::vector<std::string>{"crank.q", "crank.tau"}));
  EXPECT_EQ(table->column(1), (std::vector<double>{3, 6}));
  EXPECT_EQ(table->columns, (std::vector<int>{3, 17}));
}

TEST(Csv, ResolutionIsHalfAUnitOfTheLastPrintedDigit) {
  const auto fixed = parse("t,a,b,c\n0,5.9999500e-05,1.25,7\n1,0.0000000e+00,100.50,8\n2,1.0000000e-02,0.00,9\n");
  ASSERT_TRUE(fixed);
  EXPECT_NEAR(fixed->resolution[0], 0.5e-9, 1e-20);
  EXPECT_NEAR(fixed->resolution[1], 0.5e-2, 1e-15);
  EXPECT_EQ(fixed->resolution[2], 0);

  const auto one = parse("t,a\n0,5.9999500e-05\n");
  EXPECT_NEAR(one->resolution[0], 0.5e-12, 1e-23);
  const auto zeros = parse("t,a\n0,0.0000\n");
  EXPECT_NEAR(zeros->resolution[0], 0.5e-4, 1e-15);
  const auto coarse_times = parse("t,a\n0,1\n0.333,1\n0.667,1\n");
  EXPECT_NEAR(coarse_times->time_resolution, 0.5e-3, 1e-15);
}

TEST(Csv, DroppedZerosDoNotHideTheResolution) {
  const auto shortest = parse("t,a\n0,0\n1,0.5\n2,0.479425538604203\n3,1\n");
  ASSERT_TRUE(shortest);
  EXPECT_NEAR(shortest->resolution[0], 0.5e-14, 1e-25);
}

TEST(Csv, HeaderFaults) {
  EXPECT_EQ(faults(""), "m.csv:1:1: error: the file is empty");
  EXPECT_EQ(faults("\n\n# nothing\n"), "m.csv:1:1: error: there are only comments");
  EXPECT_EQ(faults("# made\nt,theta.q\n"), "m.csv:2:1: error: no rows of numbers follow the header");
  EXPECT_EQ(faults("theta.q,t\n0,1\n"),
            "m.csv:1:1: error: expected 't' or 'time' as the first column, found 'theta.q'");
  EXPECT_EQ(faults("t,a,,a\n0,1,2,3\n"),
            "m.csv:1:5: error: expected the name of column 3, found nothing\n"
            "m.csv:1:6: error: column 4 has the same name as column 2: 'a'");
  EXPECT_EQ(faults("t\n0\n"), "m.csv:1:1: error: expected columns beside the time, found none");
  EXPECT_EQ(faults("% a\n  0 1\n"),
            "m.csv:2:3: error: expected a header row, found numbers; name the columns with --columns t,…");
  EXPECT_EQ(faults("0 1\n", {"t", "a", "b"}), "m.csv:1:1: error: the table has 2 columns, --columns names 3");
  EXPECT_EQ(faults("0 1\n", {"a", "t"}), "m.csv:1:1: error: expected 't' or 'time' as the first column, found 'a'");
  EXPECT_EQ(faults("t;a\n0;1\n"), "m.csv:1:2: error: expected commas or blanks between the columns, found ';'");
  EXPECT_EQ(faults("t,\"a\n0,1\n"), "m.csv:1:3: error: the quotes are not closed on this line");
  EXPECT_EQ(faults("\xFF\xFEt"), "m.csv:1:1: error: the text is UTF-16; save it as UTF-8");
  EXPECT_EQ(faults(std::string("t,a\0\n", 5)),
            "m.csv:1:4: error: expected a table of numbers, found bytes that are no text");
}

TEST(Csv, RowFaultsAreAllToldWithTheirPlace) {
  EXPECT_EQ(faults("t,a,b\n0,1\n1,abc,2\n2,,3\n3,1,2,3\n4,nan,-inf\n5,1e999,1\n6,\"1\"x,2\n7,1 2,3\n"),
            "m.csv:2:4: error: expected 3 values, found 2\n"
            "m.csv:3:3: error: expected a number for 'a', found 'abc'\n"
            "m.csv:4:3: error: expected a number for 'a', found nothing\n"
            "m.csv:5:7: error: expected 3 values, found 4\n"
            "m.csv:6:3: error: expected a finite number for 'a', found 'nan'\n"
            "m.csv:6:7: error: expected a finite number for 'b', found '-inf'\n"
            "m.csv:7:3: error: expected a number from -1e+50 to 1e+50 for 'a', found '1e999'\n"
            "m.csv:8:6: error: expected the end of the column after the quotes, found 'x'\n"
            "m.csv:9:3: error: expected a number for 'a', found '1 2'");
  EXPECT_EQ(faults("t,größe\n0,1\n1,ä\n"), "m.csv:3:3: error: expected a number for 'größe', found 'ä'");
}

TEST(Csv, EmptyFieldsAreNotGivenWhereTheyMayBe) {
  CsvOptions options;
  options.may_be_empty = [](const std::string& column) { return column.ends_with(".a"); };
  const auto table = parse_csv("t,j.q,j.a,k.a\n0,1,,2\n1,2,3,\n", "m.csv", options);
  ASSERT_TRUE(table) << table.failure().to_string();
  EXPECT_TRUE(std::isnan(table->at(0, 1)));
  EXPECT_EQ(table->at(0, 2), 2);
  EXPECT_EQ(table->at(1, 1), 3);
  EXPECT_TRUE(std::isnan(table->at(1, 2)));
  const auto refused = parse_csv("t,j.q,j.a\n0,,1\n,1,1\n1,1,nan\n", "m.csv", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure().to_string(),
            "m.csv:2:3: error: expected a number for 'j.q', found nothing\n"
            "m.csv:3:1: error: expected a number for 't', found nothing\n"
            "m.csv:4:5: error: expected a finite number for 'j.a', found 'nan'");
}

TEST(Csv, TimeMustIncrease) {
  EXPECT_EQ(faults("t,a\n0,1\n0.2,1\n0.2,1\n0.1,1\n0.3,1\n"),
            "m.csv:4:1: error: the time must increase: 0.2 follows 0.2\n"
            "m.csv:5:1: error: the time must increase: 0.1 follows 0.2");
}

TEST(Csv, StopsAfterTwentyFaults) {
  std::string text = "t,a\n";
  for (int i = 0; i < 1000; ++i) text += "x,y\n";
  const auto result = parse(text);
  ASSERT_FALSE(result);
  ASSERT_EQ(result.failure().diagnostics.size(), 21u);
  EXPECT_EQ(to_string(result.failure().diagnostics.back()), "m.csv:11:1: error: too many faults, the rest is not read");
}

TEST(Csv, RefusesALineLongerThanAnyTable) {
  const std::string line(LineReader::kLongestLine + 1, '1');
  EXPECT_EQ(faults("t,a\n" + line), "m.csv:2:1: error: the line is longer than 10 MB; this is no table");
}

TEST(Csv, RefusesMoreColumnsThanAnyTable) {
  std::string header = "t";
  for (int i = 0; i < 100'000; ++i) header += ",c" + std::to_string(i);
  EXPECT_EQ(faults(header + "\n0\n"), "m.csv:1:1: error: the table has 100001 columns, more than 100000");
  EXPECT_EQ(faults("t,a,b,a\n0,1,2,3\n"), "m.csv:1:7: error: column 4 has the same name as column 2: 'a'");
}

TEST(Csv, LongNamesAreShortenedInMessages) {
  const std::string long_name(5'000, 'n');
  EXPECT_EQ(faults("t," + long_name + "\n0,x\n"),
            "m.csv:2:3: error: expected a number for '" + std::string(60, 'n') + "…', found 'x'");
}

TEST(Csv, UnequalStepsNameTheLine) {
  const auto table = parse("t,a\n0,1\n0.1,1\n# gap\n0.3,1\n0.4,1\n0.5,1\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->even_step().failure().to_string(),
            "m.csv:5:1: error: unequal steps: t goes from 0.1 to 0.3, a step of 0.2; the others are 0.1");
}

TEST(Csv, MissingFileIsNamed) {
  const auto result = read_csv("no/such/motion.csv");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().to_string(), "no/such/motion.csv: error: cannot read the file: no such file");
}

TEST(Csv, WrittenNumbersReadBackTheSame) {
  std::string pattern = (std::filesystem::temp_directory_path() / "kinegraph_csv_XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(pattern.data());
  const std::string path = (folder / "a.csv").string();

  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> mantissa(-1, 1), exponent(-300, 50);
  Trajectory written({"P1.x", "a name, odd", "theta.q"});
  for (int i = 0; i < 20000; ++i) {  // more than one buffer of the reader
    double* row = written.append(0.1 * i);
    for (int c = 0; c < 3; ++c) row[c] = mantissa(random) * std::pow(10, exponent(random));
  }
  written.at(0, 0) = std::numeric_limits<double>::denorm_min();
  written.at(0, 1) = kLargest;
  ASSERT_TRUE(write_csv(path, written));
  const auto read = read_csv(path);
  ASSERT_TRUE(read) << read.failure().to_string();
  EXPECT_EQ(read->names(), written.names());
  EXPECT_EQ(read->times(), written.times());
  for (int c = 0; c < 3; ++c) EXPECT_EQ(read->column(c), written.column(c));

  std::ifstream in(path);
  std::string header, first;
  std::getline(in, header);
  EXPECT_EQ(header, "t,P1.x,\"a name, odd\",theta.q");
  std::filesystem::remove_all(folder);
}

TEST(Csv, RefusesToWriteWhatIsNotANumber) {
  Trajectory trajectory({"a", "b"});
  double* row = trajectory.append(0.5);
  row[0] = 1;
  row[1] = std::nan("");
  const std::string path = (std::filesystem::temp_directory_path() / "kinegraph_nan.csv").string();
  const auto result = write_csv(path, trajectory);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().kind, Failure::Kind::internal);
  EXPECT_EQ(result.failure().to_string(), "error: internal fault: b is not a number at t = 0.5");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Csv, StopsWhenAsked) {
  Trajectory trajectory({"a"});
  for (int i = 0; i < 10; ++i) *trajectory.append(i) = 1;
  const std::string path = (std::filesystem::temp_directory_path() / "kinegraph_stop.csv").string();
  const auto result = write_csv(path, trajectory, [](double) { return false; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().kind, Failure::Kind::interrupted);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(NumberText, AcceptsWholeFiniteNumbersOnly) {
  double value = 0;
  EXPECT_EQ(read_number("-1.5e-3", value), NumberFault::none);
  EXPECT_EQ(value, -1.5e-3);
  EXPECT_EQ(read_number("+2", value), NumberFault::none);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(read_number("1e-400", value), NumberFault::none);
  EXPECT_EQ(value, 0);
  for (const char* text : {"", "+", "+-1", "1x", "0x10", " 1", "1,5"}) {
    EXPECT_EQ(read_number(text, value), NumberFault::not_a_number) << text;
  }
  for (const char* text : {"nan", "inf", "-infinity"}) {
    EXPECT_EQ(read_number(text, value), NumberFault::not_finite) << text;
  }
  for (const char* text : {"1e400", "-1e400", "1.79769e+308", "1e51", "-1e51"}) {
    EXPECT_EQ(read_number(text, value), NumberFault::too_large) << text;
  }
  EXPECT_EQ(expected_number(NumberFault::not_a_number), "number");
  EXPECT_EQ(expected_number(NumberFault::not_finite), "finite number");
  EXPECT_EQ(expected_number(NumberFault::too_large), "number from -1e+50 to 1e+50");
}

TEST(NumberText, BoundsMayBeInfinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  double value = 0;
  for (const char* text : {"inf", "Infinity", "1e400", "1.79769e+308", "1e51"}) {
    EXPECT_EQ(read_bound(text, value), NumberFault::none) << text;
    EXPECT_EQ(value, infinity) << text;
    EXPECT_EQ(read_bound("-" + std::string(text), value), NumberFault::none) << text;
    EXPECT_EQ(value, -infinity) << text;
  }
  EXPECT_EQ(read_bound("-1e16", value), NumberFault::none);
  EXPECT_EQ(value, -1e16);
  EXPECT_EQ(read_bound("nan", value), NumberFault::not_finite);
  EXPECT_EQ(read_bound("none", value), NumberFault::not_a_number);
}

TEST(Csv, GapsAreEmptyFields) {
  const auto folder = std::filesystem::temp_directory_path() / ("kinegraph_gaps_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string path = (folder / "g.csv").string();
  const double nan = std::nan("");
  Trajectory table({"a", "b"});
  const double rows[][2] = {{1, nan}, {nan, nan}, {nan, 2}};
  for (int i = 0; i < 3; ++i) std::copy_n(rows[i], 2, table.append(i));
  ASSERT_TRUE(write_csv(path, table, {}, true));
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, "t,a,b\n0,1,\n1,,\n2,,2\n");
  CsvOptions options;
  options.may_be_empty = [](const std::string&) { return true; };
  const auto back = read_csv(path, options);
  ASSERT_TRUE(back) << back.failure().to_string();
  EXPECT_EQ(back->at(2, 1), 2);
  EXPECT_TRUE(std::isnan(back->at(1, 0)));
  const auto strict = write_csv(path, table);
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.failure().diagnostics[0].message, "internal fault: b is not a number at t = 0");
  table.at(0, 1) = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(write_csv(path, table, {}, true)) << "an infinity is no gap";
  std::filesystem::remove_all(folder);
}

TEST(Csv, TimesMayStandStillIfAllowed) {
  CsvOptions options;
  options.equal_times = true;
  EXPECT_TRUE(parse_csv("t,a\n0,1\n0,2\n", "m.csv", options));
  const auto backwards = parse_csv("t,a\n1,1\n0,2\n", "m.csv", options);
  ASSERT_FALSE(backwards);
  EXPECT_EQ(backwards.failure().to_string(), "m.csv:3:1: error: the time must not go backwards: 0 follows 1");
}

}  // namespace
}  // namespace kinegraph::csv_test
