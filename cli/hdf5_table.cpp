#include "hdf5_table.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <cerrno>
#include <charconv>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace kinegraph::cli {
namespace {

using ensemble::Column;
using ensemble::Field;
using ensemble::TableFile;

constexpr hsize_t kRows = 4096;  ///< of a chunk, and kept in memory until there are so many

/// Something of HDF5 that has to be closed.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() { close(); }
  bool close() {
    const bool good = id_ >= 0 && close_(id_) >= 0;
    id_ = H5I_INVALID_HID;
    return good;
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

hid_t type_of(Column::Kind kind, hid_t text) {
  if (kind == Column::Kind::text) return text;
  return kind == Column::Kind::whole ? H5T_NATIVE_UINT64 : H5T_NATIVE_DOUBLE;
}

bool put_texts(hid_t object, const char* name, const std::vector<std::string>& texts) {
  const Handle type = text_type();
  const hsize_t size = texts.size();
  const Handle space(size == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, nullptr), H5Sclose);
  const Handle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return attribute >= 0 && H5Awrite(attribute, type, pointers.data()) >= 0;
}

/// A name that no other column has, without '/', which separates groups.
std::string safe_name(const std::string& name, std::set<std::string>& taken) {
  std::string base = name.empty() ? "_" : name;
  for (char& c : base) c = c == '/' || c == '\0' ? '_' : c;
  if (base == ".") base = "_";
  std::string made = base;
  for (int k = 2; !taken.insert(made).second; ++k) made = fmt::format("{}_{}", base, k);
  return made;
}

double number_of(const Field& field) {
  if (const auto* number = std::get_if<double>(&field)) return *number;
  if (const auto* whole = std::get_if<std::uint64_t>(&field)) return static_cast<double>(*whole);
  double value = std::numeric_limits<double>::quiet_NaN();
  if (const auto* text = std::get_if<std::string>(&field)) {
    std::from_chars(text->data(), text->data() + text->size(), value);
  }
  return value;
}

std::string text_of(const Field& field) {
  if (const auto* text = std::get_if<std::string>(&field)) return *text;
  if (const auto* number = std::get_if<double>(&field)) return fmt::format("{}", *number);
  if (const auto* whole = std::get_if<std::uint64_t>(&field)) return fmt::format("{}", *whole);
  return {};
}

/// A data set that grows by chunks.
class Series {
 public:
  Series(hid_t file, const Column& column, const std::string& name)
      : kind_(column.kind), text_(text_type()), set_(make(file, name), H5Dclose) {
    good_ = set_ >= 0 && put_texts(set_, "name", {column.name});
  }
  void add(const Field& field) {
    if (kind_ == Column::Kind::text) {
      texts_.push_back(text_of(field));
    } else if (kind_ == Column::Kind::whole) {
      const auto* whole = std::get_if<std::uint64_t>(&field);
      wholes_.push_back(whole ? *whole : 0);
    } else {
      numbers_.push_back(number_of(field));
    }
    if (++kept_ == kRows) flush();
  }
  void flush() {
    if (!good_ || kept_ == 0) return;
    const hsize_t all = rows_ + kept_;
    good_ = H5Dset_extent(set_, &all) >= 0;
    const Handle there(H5Dget_space(set_), H5Sclose), here(H5Screate_simple(1, &kept_, nullptr), H5Sclose);
    good_ = good_ && H5Sselect_hyperslab(there, H5S_SELECT_SET, &rows_, nullptr, &kept_, nullptr) >= 0;
    std::vector<const char*> pointers;
    for (const std::string& text : texts_) pointers.push_back(text.c_str());
    const void* data = kind_ == Column::Kind::text    ? static_cast<const void*>(pointers.data())
                       : kind_ == Column::Kind::whole ? static_cast<const void*>(wholes_.data())
                                                      : static_cast<const void*>(numbers_.data());
    errno = 0;
    good_ = good_ && H5Dwrite(set_, type_of(kind_, text_), here, there, H5P_DEFAULT, data) >= 0;
    if (!good_) error_ = errno;
    rows_ = all, kept_ = 0;
    numbers_.clear(), wholes_.clear(), texts_.clear();
  }
  bool good() const { return good_; }
  int error() const { return error_; }  ///< errno of the write that failed, if it left one
  bool close() {
    flush();
    return set_.close() && good_;
  }

 private:
  hid_t make(hid_t file, const std::string& name) const {
    const hsize_t none = 0, any = H5S_UNLIMITED;
    const Handle space(H5Screate_simple(1, &none, &any), H5Sclose), how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(how, 1, &kRows);
    H5Pset_obj_track_times(how, false);  // else the same rows would not give the same bytes
    return H5Dcreate2(file, name.c_str(), type_of(kind_, text_), space, H5P_DEFAULT, how, H5P_DEFAULT);
  }

  Column::Kind kind_;
  Handle text_, set_;
  bool good_ = true;
  int error_ = 0;
  hsize_t rows_ = 0, kept_ = 0;
  std::vector<double> numbers_;
  std::vector<std::uint64_t> wholes_;
  std::vector<std::string> texts_;
};

class Hdf5Table final : public TableFile {
 public:
  Hdf5Table(OutputFile& output, const std::vector<Column>& columns) : output_(output), file_(open(output), H5Fclose) {
    std::set<std::string> taken;
    std::vector<std::string> names;
    for (const Column& column : columns) {
      names.push_back(safe_name(column.name, taken));
      series_.emplace_back(file_, column, names.back());
    }
    good_ = file_ >= 0 && put_texts(file_, "columns", names);
  }
  void add(const std::vector<Field>& row) override {
    for (std::size_t i = 0; i < row.size(); ++i) series_[i].add(row[i]);
  }
  bool failed() const override {
    for (const Series& series : series_) {
      if (!series.good()) return true;
    }
    return !good_;
  }
  Result<std::monostate> finish() override {
    errno = 0;
    for (Series& series : series_) good_ = series.close() && good_;
    good_ = file_.close() && good_;
    if (!good_) {
      int error = errno;
      for (const Series& series : series_) error = series.error() != 0 ? series.error() : error;
      return Failure::bad_input(
          fmt::format("cannot write '{}': {}", output_.path(), error != 0 ? system_message(error) : "HDF5 gave up"));
    }
    return output_.finish();
  }

 private:
  static hid_t open(const OutputFile& output) {
    H5dont_atexit();  // a file that it could not close it would try to close again when the program ends, and crash
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // it would print; we tell of faults ourselves
    const Handle how(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_obj_track_times(how, false);
    return H5Fcreate(output.place().c_str(), H5F_ACC_TRUNC, how, H5P_DEFAULT);
  }

  OutputFile& output_;
  Handle file_;
  std::vector<Series> series_;
  bool good_ = true;
};

}  // namespace

Result<std::unique_ptr<ensemble::TableFile>> hdf5_table(OutputFile& file,
                                                        const std::vector<ensemble::Column>& columns) {
  if (file.place().empty()) {
    return Failure::bad_input(fmt::format("cannot write '{}': HDF5 needs a file, not a pipe or device", file.path()));
  }
  return std::unique_ptr<ensemble::TableFile>(std::make_unique<Hdf5Table>(file, columns));
}

}  // namespace kinegraph::cli
