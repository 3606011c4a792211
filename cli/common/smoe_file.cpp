#include <cctype>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_file.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <holotone/io/file_bytes_detail.hpp>

namespace holotone::cli {

MixtureFile read_model(const std::string& path, std::string_view option) {
  io::require_input(path);
  require_model_name(option, path);
  return read_mixture(path);
}

void require_model_name(std::string_view option, const std::string& path) {
  if (!is_mixture_name(path)) reject(option, "a name ending in .smoe, .json or .npz", path);
}

std::int64_t byte_count(std::string_view option, const std::string& text) {
  double unit = 1;
  std::string number = text;
  if (!text.empty() && (text.back() == 'k' || text.back() == 'M')) {
    unit = text.back() == 'k' ? 1e3 : 1e6;
    number.pop_back();
  }
  if (!number.empty() && std::isalpha(static_cast<unsigned char>(number.back())) != 0) {
    reject(option, "bytes such as 4000, 4k (k = 1000) or 1.5M (M = 1000000)", text);
  }
  return static_cast<std::int64_t>(std::floor(number_between(option, number, 0, 1e9) * unit));
}

}  // namespace holotone::cli
