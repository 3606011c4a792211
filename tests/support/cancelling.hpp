#pragma once
#include <cstdint>
#include <holotone/core/progress.hpp>
#include <string_view>

namespace support {

/// Cancels when `steps` steps are done.
class Cancelling final : public holotone::Progress {
 public:
  explicit Cancelling(std::int64_t steps) : steps_(steps) {}
  bool update(std::string_view, std::int64_t done, std::int64_t) override { return done < steps_; }

 private:
  std::int64_t steps_;
};

}  // namespace support
