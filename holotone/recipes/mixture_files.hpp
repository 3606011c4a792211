#pragma once
#include <cstdint>
#include <holotone/recipes/mixtures.hpp>
#include <holotone/smoe/codec.hpp>
#include <optional>
#include <string>

// Files of models: .smoe (encode_smoe), and .json and .npz for other programs (docs/files.md).
namespace holotone {

/// A model and the file it came from.
struct MixtureFile {
  SmoeModel model{};
  std::int64_t bytes = 0;              ///< size of the file
  std::optional<SmoeFileInfo> info{};  ///< header of a .smoe file
};

/// True if a name ends in .smoe, .json or .npz.
bool is_mixture_name(const std::string& path);

/// Reads a model from .smoe, .json or .npz, by the name's extension. Throws invalid_argument for another extension; io
/// for a file that is missing or damaged, and for a model that require_model rejects; out_of_memory.
MixtureFile read_mixture(const std::string& path);

/// Writes a model, by the name's extension: .smoe by encode_smoe with these steps (smoe_steps), without any every float
/// exactly; .json and .npz every float exactly. Throws invalid_argument for another extension and as encode_smoe; io.
void write_mixture(const std::string& path, const SmoeModel& model, const std::optional<SmoeSteps>& steps = {});
/// Writes a fitted model: the bytes of the fit as .smoe, or the floats that they decode to as .json or .npz.
void write_mixture(const std::string& path, const MixtureFit& fit);

}  // namespace holotone
