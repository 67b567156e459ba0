#include "cli/report/json_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cli/report/text.hpp"

namespace warpfold::cli {
namespace {

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
  Writer(const JsonElements& elements, const std::function<void(std::string_view)>& put)
      : elements_(elements), put_(put), elements_pointer_(pointer_part(elements.array)) {}

  void write_document(const Json& document) {
    write(document);
    if (!not_finite_.empty() && document.is_object()) add_not_finite();
    put_(text_ += '\n');
  }

 private:
  void add_not_finite() {
    text_.resize(text_.size() - 2);  // the line feed and the brace
    text_ += ",\n  \"not_finite\": ";
    ++depth_;
    write(not_finite_);
    --depth_;
    text_ += "\n}";
  }

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
    auto item = node.begin();
    write_items(node.size(), '{', '}', true, [&](std::size_t) {
      write_scalar(item.key());
      text_ += ": ";
      write_part(item.key(), item.value());
      ++item;
    });
  }

  void write_array(const Json& node) {
    if (elements_.size > 0 && pointer_ == elements_pointer_) return write_elements();
    const bool nested = std::any_of(node.begin(), node.end(),
                                    [](const Json& each) { return each.is_structured(); });
    write_items(node.size(), '[', ']', nested,
                [&](std::size_t i) { write_part(std::to_string(i), node[i]); });
  }

  void write_elements() {
    constexpr std::size_t part_bytes = std::size_t{1} << 20;
    write_items(elements_.size, '[', ']', true, [this](std::size_t i) {
      write_part(std::to_string(i), elements_.make(i));
      if (text_.size() < part_bytes) return;
      put_(text_);
      text_.clear();
    });
  }

  template <class WriteItem>
  void write_items(std::size_t items, char open, char close, bool on_lines,
                   WriteItem&& write_item) {
    const bool break_lines = on_lines && items > 0;
    text_ += open;
    ++depth_;
    for (std::size_t i = 0; i < items; ++i) {
      if (i > 0) text_ += break_lines ? "," : ", ";
      if (break_lines) new_line();
      write_item(i);
    }
    --depth_;
    if (break_lines) new_line();
    text_ += close;
  }

  void new_line() { text_ += '\n' + std::string(2 * depth_, ' '); }

  const JsonElements& elements_;
  const std::function<void(std::string_view)>& put_;
  const std::string elements_pointer_;
  std::string text_;     ///< that was not put yet
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
  std::string text;
  write_json(document, {}, [&](std::string_view part) { text += part; });
  return text;
}

void write_json(const Json& document, const JsonElements& elements,
                const std::function<void(std::string_view part)>& write) {
  Writer(elements, write).write_document(document);
}

}  // namespace warpfold::cli
