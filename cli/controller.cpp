#include "controller.hpp"

#include <set>
#include <sstream>

#include "kinegraph/base/names.hpp"

namespace kinegraph::cli {

identify::ControlLaw read_controller(OptionReader& reader, const std::string& text) {
  constexpr const char* kForm = "expected 'COMMAND: READING[@TARGET] … [+ADDED] [limit=U] [order=N]', found ";
  identify::ControlLaw law;
  const std::size_t colon = text.find(':');
  std::istringstream command(text.substr(0, colon));
  std::string more;
  if (colon == std::string::npos || !(command >> law.command) || command >> more) {
    reader.fault("controller", kForm + quote(text));
    return law;
  }
  std::istringstream words(text.substr(colon + 1));
  std::set<std::string> given;
  const auto once = [&](const std::string& what) {
    if (!given.insert(what).second) reader.fault("controller", quote(what) + " is given twice");
  };
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('='), at = word.find('@');
    if (word[0] == '+' && word.size() > 1) {
      once("+");
      law.added = word.substr(1);
    } else if (equals != std::string::npos) {
      const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
      once(key);
      if (key == "limit") {
        law.limit = reader.number("controller limit", value);
      } else if (key == "order") {
        law.order = static_cast<int>(reader.whole("controller order", value, 0, 20));
      } else {
        reader.fault("controller", "unknown key " + quote(key) + did_you_mean(key, {"limit", "order"}));
      }
    } else if (word == "+" || at == 0 || at + 1 == word.size()) {
      reader.fault("controller", kForm + quote(text));
    } else {
      const std::string reading = word.substr(0, at);
      once(reading);
      law.terms.push_back({reading, at == std::string::npos ? "" : word.substr(at + 1)});
    }
  }
  return law;
}

}  // namespace kinegraph::cli
