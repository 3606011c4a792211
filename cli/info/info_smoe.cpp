#include <cli/common/smoe_summary.hpp>
#include <cli/info/info_smoe.hpp>
#include <nlohmann/json.hpp>

namespace holotone::cli {

void tell_model(const std::string& path, const ConsoleOptions& console) {
  const MixtureFile stored = read_model(path);
  const auto pixels = own_pixels(stored.model);
  report_model(console, path, stored, pixels);
  report_json(console, model_json(path, stored, pixels));
}

}  // namespace holotone::cli
