#include "kinegraph/report/page.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kinegraph::report::page_test {
namespace {

constexpr std::string_view kBegin = "<script id=\"kinegraph-data\" type=\"application/json\">";

/// The data of a page, as a browser reads them: up to the first end of a script.
nlohmann::ordered_json data_in(const std::string& html) {
  const std::size_t begin = html.find(kBegin) + kBegin.size();
  return nlohmann::ordered_json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Page, NamesCannotBecomeMarkup) {
  Page page;
  page.model = "</script><script>alert(1)</script>";
  page.facts.emplace_back("<b>", "<!--");
  const std::string html = report::html(page), plain = report::html(Page{});
  EXPECT_EQ(count(html, "<script"), count(plain, "<script"));
  EXPECT_EQ(count(html, "<!--"), count(plain, "<!--"));
  EXPECT_EQ(data_in(html)["model"], page.model);
  EXPECT_EQ(data_in(html)["facts"][0][1], "<!--");
}

TEST(Page, TextThatIsNoUnicodeIsReplaced) {
  Page page;
  page.model = "a\xff";
  EXPECT_EQ(data_in(html(page))["model"], "a\xef\xbf\xbd");
}

TEST(Page, NothingIsFetched) {
  const std::string_view page = page_template();
  EXPECT_EQ(page.find("src=\"http"), std::string_view::npos);
  EXPECT_EQ(page.find("<link"), std::string_view::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string_view::npos);
  EXPECT_LT(page.size(), 1'000'000u);
}

TEST(Page, NumbersThatAreNoneAreNull) {
  Page page;
  page.tables.push_back(table("t", "", {"a"}, {}, {{std::nan("")}}));
  EXPECT_TRUE(data_in(html(page))["tables"][0]["rows"][0][0].is_null());
}

TEST(Page, SectionsThatAreMissingAreLeftOut) {
  const auto data = data_in(html(Page{}));
  EXPECT_FALSE(data.contains("scene"));
  EXPECT_FALSE(data.contains("series"));
  EXPECT_EQ(data["format"], 1);
}

}  // namespace
}  // namespace kinegraph::report::page_test
