#include "kinegraph/report/packed.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace kinegraph::report::packed_test {
namespace {

std::string encode(const std::string& text) {
  return base64({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

TEST(Packed, Base64IsThatOfTheStandard) {  // RFC 4648, section 10
  EXPECT_EQ(encode(""), "");
  EXPECT_EQ(encode("f"), "Zg==");
  EXPECT_EQ(encode("fo"), "Zm8=");
  EXPECT_EQ(encode("foo"), "Zm9v");
  EXPECT_EQ(encode("foob"), "Zm9vYg==");
  EXPECT_EQ(encode("foobar"), "Zm9vYmFy");
}

TEST(Packed, SinglesAreLittleEndianAndNothingIsInfinite) {
  EXPECT_EQ(packed(std::vector<double>{1.0})["f32"], "AACAPw==");  // 3f800000
  const auto huge = packed(std::vector<double>{1e300}), none = packed(std::vector<double>{std::nan("")});
  EXPECT_EQ(huge["f32"], none["f32"]);
  EXPECT_EQ(packed(std::vector<double>{std::numeric_limits<double>::infinity()})["f32"], none["f32"]);
}

TEST(Packed, QuantisedNumbersAreMultiplesOfTheirScale) {
  const auto json = quantised(std::vector<double>{-2.0, 0.0, 2.0, 1.0});
  EXPECT_DOUBLE_EQ(json["scale"].get<double>(), 2.0 / 32767);
  EXPECT_EQ(json["i16"], "AYAAAP9/AEA=");  // -32767, 0, 32767, 16384
  EXPECT_DOUBLE_EQ(quantised(std::vector<double>{0.0})["scale"].get<double>(), 1);
}

TEST(Packed, EvenTimesAreThreeNumbers) {
  const auto even = packed_times(std::vector<double>{1, 1.5, 2});
  EXPECT_EQ(even["count"], 3);
  EXPECT_DOUBLE_EQ(even["step"].get<double>(), 0.5);
  EXPECT_TRUE(packed_times(std::vector<double>{0, 1, 3}).contains("f64"));
  EXPECT_EQ(packed_times(std::vector<double>{})["count"], 0);
}

}  // namespace
}  // namespace kinegraph::report::packed_test
