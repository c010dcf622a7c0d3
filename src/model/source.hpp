#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kinegraph/model/model.hpp"
#include "kinegraph/model/schema.hpp"

namespace kinegraph {

/// A piece of the file as written.
struct Text {
  std::string text;
  Location where;
  bool verbatim = true;  ///< the file holds exactly these characters in one line, so a column inside is exact
};

/// The value of a key of an element.
struct Field {
  Location where;
  std::vector<Text> items;  ///< one, or those of a list
  bool list = false;
  bool faulty = false;  ///< given, but not as it should be: reported already
};

/// One element of a list of the file.
struct ElementSource {
  Location where;
  std::map<std::string, Field, std::less<>> fields;

  /// The field if it is given and sound.
  const Field* find(std::string_view key) const;
  /// Its text if so.
  const Text* text(std::string_view key) const;
};

struct NamedText {
  Text name, value;
  bool faulty = false;  ///< the value is not a text: reported already
};

/// A model file as read: what stands where, nothing computed. A Model is made from it by evaluate().
class ModelSource {
 public:
  std::string file;
  std::optional<Text> name;
  std::optional<Field> gravity;
  std::vector<NamedText> parameters, initial;
  std::array<std::vector<ElementSource>, kSections> elements;

  const std::vector<ElementSource>& of(Section section) const { return elements[static_cast<int>(section)]; }
  std::vector<ElementSource>& of(Section section) { return elements[static_cast<int>(section)]; }
};

/// Of a file with more faults than this only the first are reported, and nearest names are not looked for.
inline constexpr int kMostFaults = 100;

/// The Model of a source with some of its quantities set by the user (over those of the file). `found` are faults the
/// reader has met already: with any error the result is a failure that holds all faults, in the order of the file.
Result<Model> evaluate(std::shared_ptr<const ModelSource> source, const Settings& settings,
                       std::vector<Diagnostic> found = {});

/// All numbers of that Model that can be set, but initial values.
Settings values_of(std::shared_ptr<const ModelSource> source, const Settings& settings);

}  // namespace kinegraph
