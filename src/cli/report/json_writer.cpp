#include "cli/report/json_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "cli/report/text.hpp"

namespace warpfold::cli {
namespace {

class Writer {
 public:
  void write(const Json& node) {
    if (node.is_object())
      write_object(node);
    else if (node.is_array())
      write_array(node);
    else
      write_scalar(node);
  }

  std::string take() { return std::move(text_); }

 private:
  void write_scalar(const Json& node) {
    if (node.is_number_float()) {
      const double value = node.get<double>();
      text_ += std::isfinite(value) ? to_text(value) : '"' + to_text(value) + '"';
    } else {
      text_ += node.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
  }

  void write_object(const Json& node) {
    write_items(node, '{', '}', true, [this](auto item) {
      write_scalar(item.key());
      text_ += ": ";
      write(item.value());
    });
  }

  void write_array(const Json& node) {
    const bool nested = std::any_of(node.begin(), node.end(),
                                    [](const Json& each) { return each.is_structured(); });
    write_items(node, '[', ']', nested, [this](auto item) { write(item.value()); });
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
  std::size_t depth_ = 0;
};

}  // namespace

Json json_integer(int128 value) {
  constexpr int128 exact = int128{1} << 53;
  if (value < -exact || value > exact) return to_string(value);
  return static_cast<std::int64_t>(value);
}

Json json_value(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* integer = std::get_if<int128>(&value)) return json_integer(*integer);
  return nullptr;
}

std::string json_text(const Json& document) {
  Writer writer;
  writer.write(document);
  return writer.take() + "\n";
}

}  // namespace warpfold::cli
