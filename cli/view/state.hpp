#pragma once
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace holotone::cli {

/// Values of the page's controls, as they came: every value is checked when it is taken. Errors name the control.
class State {
 public:
  State() = default;
  explicit State(nlohmann::json values);

  /// A finite number within low .. high; `otherwise` if there is none.
  [[nodiscard]] double number(std::string_view control, double otherwise, double low, double high) const;
  /// A text of at most 4096 bytes.
  [[nodiscard]] std::string text(std::string_view control, std::string_view otherwise) const;
  /// Two finite numbers.
  [[nodiscard]] std::array<double, 2> place(std::string_view control, std::array<double, 2> otherwise) const;
  /// x, y, width and height of a part, the last two > 0; none if there is none.
  [[nodiscard]] std::optional<std::array<double, 4>> window(std::string_view control) const;

 private:
  [[nodiscard]] const nlohmann::json* find(std::string_view control) const;

  nlohmann::json values_ = nlohmann::json::object();
};

}  // namespace holotone::cli
