#include <algorithm>
#include <cli/options/values.hpp>
#include <cli/view/state.hpp>
#include <cmath>

namespace holotone::cli {
namespace {

/// The numbers of an array of `count` finite ones; else throws naming the control.
template <std::size_t count>
std::array<double, count> parse_numbers(std::string_view control, const nlohmann::json& value) {
  std::array<double, count> numbers{};
  bool right = value.is_array() && value.size() == count;
  for (std::size_t i = 0; right && i < count; ++i) {
    right = value[i].is_number();
    if (right) numbers[i] = value[i].get<double>();
    right = right && std::isfinite(numbers[i]);
  }
  if (!right) reject(control, fmt::format("{} finite numbers", count), value.dump().substr(0, 64));
  return numbers;
}

}  // namespace

State::State(nlohmann::json values) : values_(std::move(values)) {
  if (!values_.is_object()) reject("state", "an object of controls", values_.type_name());
}

const nlohmann::json* State::find(std::string_view control) const {
  const auto entry = values_.find(std::string(control));
  return entry == values_.end() || entry->is_null() ? nullptr : &*entry;
}

double State::number(std::string_view control, double otherwise, double low, double high) const {
  const auto* const value = find(control);
  if (value == nullptr) return otherwise;
  const double number = value->is_number() ? value->get<double>() : std::nan("");
  if (!(number >= low && number <= high)) {
    reject(control, fmt::format("a number from {:g} to {:g}", low, high), value->dump().substr(0, 64));
  }
  return number;
}

std::string State::text(std::string_view control, std::string_view otherwise) const {
  constexpr std::size_t most = 4096;
  const auto* const value = find(control);
  if (value == nullptr) return std::string(otherwise);
  const auto* const text = value->get_ptr<const std::string*>();
  if (text == nullptr || text->size() > most) reject(control, "a short text", value->type_name());
  return *text;
}

std::array<double, 2> State::place(std::string_view control, std::array<double, 2> otherwise) const {
  const auto* const value = find(control);
  return value == nullptr ? otherwise : parse_numbers<2>(control, *value);
}

std::optional<std::array<double, 4>> State::window(std::string_view control) const {
  const auto* const value = find(control);
  if (value == nullptr) return std::nullopt;
  const auto window = parse_numbers<4>(control, *value);
  if (!(window[2] > 0 && window[3] > 0)) reject(control, "a width and a height above 0", value->dump().substr(0, 64));
  return window;
}

}  // namespace holotone::cli
