#include <holotone/core/progress.hpp>

namespace holotone {

Progress& Progress::none() {
  struct Silent final : Progress {
    bool update(std::string_view, std::int64_t, std::int64_t) override { return true; }
  };
  static Silent silent;
  return silent;
}

}  // namespace holotone
