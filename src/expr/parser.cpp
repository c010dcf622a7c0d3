#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/units.hpp"
#include "kinegraph/expr/expression.hpp"

namespace kinegraph {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool in_name(char c) { return starts_name(c) || digit(c); }
bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// ".nan", "-inf", "NaN": how YAML and C write what is not a finite number.
bool spells_non_finite(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (!blank(c) && c != '.' && c != '+' && c != '-') word += static_cast<char>(c | 0x20);
  }
  return word == "nan" || word == "inf" || word == "infinity";
}

}  // namespace

/// Recursive descent; every method leaves the place after what it has read. A fault ends the parse by an exception of
/// this class alone, caught in run().
class ExpressionParser {
 public:
  ExpressionParser(std::string text, Location where) {
    result_.text_ = std::move(text);
    result_.where_ = std::move(where);
  }

  Result<Expression> run() {
    try {
      if (result_.text_.size() > Expression::kLongest) {
        fail(0, fmt::format("formula too long: {} characters, at most {}", result_.text_.size(), Expression::kLongest));
      }
      if (spells_non_finite(result_.text_)) fail(0, quote(result_.text_) + " is not a finite number");
      skip_blanks();
      if (at_end()) fail(at_, "expected a formula, found nothing");
      sum();
      if (!at_end()) fail(at_, "expected an operator, found " + found());
    } catch (const Fault& fault) {
      std::string message = fault.message;
      if (result_.where_.column == 0) message += fmt::format(" (character {})", column_of(fault.at));
      return Failure::bad_input(result_.location_at(fault.at), std::move(message));
    }
    result_.measure_stack();
    return std::move(result_);
  }

 private:
  struct Fault {
    std::size_t at;
    std::string message;
  };
  /// Counts how deep the grammar has gone into itself.
  struct Level {
    explicit Level(ExpressionParser& p) : parser(p) {
      if (++parser.depth_ > Expression::kDeepest) {
        parser.fail(parser.at_, fmt::format("formula nested too deeply: more than {} levels", Expression::kDeepest));
      }
    }
    ~Level() { --parser.depth_; }
    ExpressionParser& parser;
  };

  [[noreturn]] void fail(std::size_t at, std::string message) const { throw Fault{at, std::move(message)}; }

  void sum() {
    product();
    while (next_is('+') || next_is('-')) {
      const Op op = take() == '+' ? Op::add : Op::subtract;
      product();
      emit(op);
    }
  }

  void product() {
    signed_power();
    while (next_is('*') || next_is('/')) {
      const Op op = take() == '*' ? Op::multiply : Op::divide;
      signed_power();
      emit(op);
    }
  }

  void signed_power() {
    const Level level(*this);
    if (next_is('+') || next_is('-')) {
      const bool minus = take() == '-';
      signed_power();
      if (minus) emit(Op::negate);
      return;
    }
    atom();
    if (next_is('^')) {
      take();
      signed_power();
      emit(Op::power);
    }
  }

  void atom() {
    if (at_end()) fail(at_, "expected a number, a name or '(', found the end of the formula");
    const char c = text()[at_];
    if (digit(c) || (c == '.' && at_ + 1 < text().size() && digit(text()[at_ + 1]))) return number();
    if (starts_name(c)) return name();
    if (c != '(') fail(at_, "expected a number, a name or '(', found " + found());
    take();
    sum();
    expect_closing();
  }

  void number() {
    const std::size_t start = at_;
    double value = 0;
    const char* begin = text().data() + at_;
    const auto [end, error] = std::from_chars(begin, text().data() + text().size(), value);
    if (error == std::errc::result_out_of_range) fail(start, "number out of range");
    at_ += end - begin;
    skip_blanks();
    if (!at_end() && starts_name(text()[at_])) value *= unit(start);
    result_.append({Op::constant, 0, value});
  }

  double unit(std::size_t start) {
    const Unit* unit = unit_at(std::string_view(text()).substr(at_));
    if (!unit) fail(at_, "expected an operator or a unit, found " + found());
    at_ += unit->name.size();
    if (const std::size_t line = unit->name.find('/'); line != std::string_view::npos) {
      const std::string_view divisor = unit->name.substr(line + 1);
      result_.divisor_units_.emplace_back(divisor.substr(0, divisor.find('^')));
    }
    std::string written = text().substr(start, at_ - start);
    std::replace_if(
        written.begin(), written.end(), [](char c) { return c == '\t' || c == '\r' || c == '\n'; }, ' ');
    skip_blanks();
    if (next_is('^')) fail(at_, "a power of a number with a unit is ambiguous; write (" + written + ")^…");
    return unit->si;
  }

  void name() {
    const std::size_t start = at_;
    while (!at_end() && in_name(text()[at_])) {
      ++at_;
      // "P1.x" is one name
      if (at_ + 1 < text().size() && text()[at_] == '.' && starts_name(text()[at_ + 1])) ++at_;
    }
    const std::string name = text().substr(start, at_ - start);
    skip_blanks();
    if (next_is('(')) return call(name, start);
    if (find_function(name)) fail(start, quote(name) + " is a function; expected '(' after it");
    for (const NamedConstant& constant : constants()) {
      if (name == constant.name) return result_.append({Op::constant, 0, constant.value});
    }
    result_.append({Op::variable, variable(name, start), 0});
  }

  int variable(const std::string& name, std::size_t start) {
    auto& names = result_.variables_;
    const auto found = std::find(names.begin(), names.end(), name);
    const int index = static_cast<int>(found - names.begin());
    if (found == names.end()) {
      names.push_back(name);
      result_.first_use_.push_back(start);
    }
    return index;
  }

  void call(const std::string& name, std::size_t start) {
    const Function* function = find_function(name);
    if (!function) {
      std::vector<std::string> known;
      for (const Function& f : functions()) known.emplace_back(f.name);
      fail(start, "unknown function " + quote(name) + did_you_mean(name, known));
    }
    int given = 0;
    take();
    if (!next_is(')')) {
      do {
        if (given > 0) take();
        sum();
        ++given;
        if (given > 1 && given <= function->arguments) emit(function->op);
        if (given > function->arguments && function->more) emit(function->op);
      } while (next_is(','));
    }
    expect_closing();
    if (given < function->arguments || (given > function->arguments && !function->more)) {
      fail(start, fmt::format("function {} takes {}{} argument{}, is given {}", quote(name), function->arguments,
                              function->more ? " or more" : "", function->arguments == 1 ? "" : "s", given));
    }
    if (function->arguments == 1) emit(function->op);
  }

  void expect_closing() {
    if (!next_is(')')) fail(at_, "expected ')', found " + found());
    take();
  }

  void emit(Op op) { result_.append({op, 0, 0}); }

  const std::string& text() const { return result_.text_; }
  bool at_end() const { return at_ >= text().size(); }
  bool next_is(char c) const { return !at_end() && text()[at_] == c; }
  void skip_blanks() {
    while (!at_end() && blank(text()[at_])) ++at_;
  }
  char take() {
    const char c = text()[at_++];
    skip_blanks();
    return c;
  }
  int column_of(std::size_t offset) const { return characters(std::string_view(text()).substr(0, offset)) + 1; }

  /// The name, number or character at the place, for messages.
  std::string found() const {
    if (at_end()) return "the end of the formula";
    std::size_t end = at_ + 1;
    while (end < text().size() && in_name(text()[at_]) && in_name(text()[end])) ++end;
    return quote(std::string_view(text()).substr(at_, end - at_));
  }

  Expression result_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Result<Expression> Expression::parse(std::string text, Location where) {
  return ExpressionParser(std::move(text), std::move(where)).run();
}

}  // namespace kinegraph
