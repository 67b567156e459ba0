#include "cli/report/json_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "cli/report/text.hpp"

namespace warpfold::cli {
namespace {

/// Writes a name as part of a JSON Pointer.
std::string pointer_part(const std::string& name) {
  std::string part = "/";
  for (const char letter : name)
    if (letter == '~')
      part += "~0";
    else if (letter == '/')
      part += "~1";
    else
      part += letter;
  return part;
}

std::string float_text(double value) {
  const std::string text = to_text(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

class Writer {
 public:
  void write_document(const Json& document) {
    write(document);
    if (not_finite_.empty() || !document.is_object()) return;
    text_.resize(text_.size() - 2);  // the line feed and the brace
    text_ += ",\n  \"not_finite\": ";
    ++depth_;
    write(not_finite_);
    --depth_;
    text_ += "\n}";
  }

  std::string take() { return std::move(text_); }

 private:
  void write(const Json& node) {
    if (node.is_object())
      write_object(node);
    else if (node.is_array())
      write_array(node);
    else
      write_scalar(node);
  }

  void write_part(const std::string& name, const Json& node) {
    const std::size_t before = pointer_.size();
    pointer_ += pointer_part(name);
    write(node);
    pointer_.resize(before);
  }

  void write_scalar(const Json& node) {
    if (node.is_number_float())
      write_float(node.get<double>());
    else if (node.is_binary())
      text_.append(node.get_binary().begin(), node.get_binary().end());
    else
      text_ += node.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  void write_float(double value) {
    if (!std::isfinite(value)) not_finite_[pointer_] = to_text(value);
    text_ += std::isfinite(value) ? float_text(value) : "null";
  }

  void write_object(const Json& node) {
    write_items(node, '{', '}', true, [this](auto item) {
      write_scalar(item.key());
      text_ += ": ";
      write_part(item.key(), item.value());
    });
  }

  void write_array(const Json& node) {
    const bool nested = std::any_of(node.begin(), node.end(),
                                    [](const Json& each) { return each.is_structured(); });
    std::size_t index = 0;
    write_items(node, '[', ']', nested,
                [this, &index](auto item) { write_part(std::to_string(index++), item.value()); });
  }

  template <class WriteItem>
  void write_items(const Json& node, char open, char close, bool on_lines, WriteItem&& write_item) {
    const bool break_lines = on_lines && !node.empty();
    bool first = true;
    text_ += open;
    ++depth_;
    for (auto item = node.begin(); item != node.end(); ++item, first = false) {
      if (!first) text_ += break_lines ? "," : ", ";
      if (break_lines) new_line();
      write_item(item);
    }
    --depth_;
    if (break_lines) new_line();
    text_ += close;
  }

  void new_line() { text_ += '\n' + std::string(2 * depth_, ' '); }

  std::string text_;
  std::string pointer_;  ///< to what is being written
  Json not_finite_ = Json::object();
  std::size_t depth_ = 0;
};

}  // namespace

Json json_integer(int128 value) {
  const auto number = static_cast<std::int64_t>(value);
  if (number == value) return number;
  const std::string digits = to_string(value);
  return Json::binary({digits.begin(), digits.end()});
}

Json json_value(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* integer = std::get_if<int128>(&value)) return json_integer(*integer);
  return nullptr;
}

std::string json_text(const Json& document) {
  Writer writer;
  writer.write_document(document);
  return writer.take() + "\n";
}

}  // namespace warpfold::cli
