#pragma once
#include <cstdint>
#include <holotone/core/bounds.hpp>
#include <holotone/smoe/codec.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace holotone::cli {

/// Quality of .smoe files.
inline constexpr Bounds quality_bounds{0, best_smoe_quality};

/// A model and the file it came from.
struct StoredModel {
  SmoeModel model;
  std::optional<SmoeFileInfo> info;  ///< only of .smoe files
  std::int64_t bytes = 0;
};

/// Reads .smoe, .json or .npz, by the name's extension. Throws io, and invalid_argument naming `option`.
StoredModel read_model(const std::string& path, std::string_view option = "IN");

/// Throws invalid_argument naming the option unless the name ends in .smoe, .json or .npz.
void require_model_name(std::string_view option, const std::string& path);

/// Writes every float of a model unchanged, for other programs: .json or .npz by the name (docs/files.md). Throws
/// io.
void write_model_floats(const std::string& path, const SmoeModel& model);

/// Writes the bytes of a .smoe file. Throws io.
void write_smoe(const std::string& path, const std::vector<std::byte>& bytes);

/// "40k", "1.5M", "40000": a count of bytes, in powers of 1000. Throws invalid_argument.
std::int64_t byte_count(std::string_view option, const std::string& text);

}  // namespace holotone::cli
