#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/quantized_file.hpp>

namespace holotone {

void describe_quantization(Metadata& metadata, const Quantization& quantization) {
  const auto& diffusion = quantization.diffusion;
  // Keys of a preset, of which the codes use fewer levels, and of an earlier beam.
  for (const char* key : {"level_phase_rad", "phase_range_rad", "reference_angle_x_rad", "reference_angle_y_rad"})
    metadata.erase(key);
  EncodeOptions encode;
  const bool phase = diffusion.modulation == Modulation::phase;
  encode.encoding = phase ? Encoding::phase : Encoding::amplitude;
  encode.bits = diffusion.bits;
  encode.reference_angle_x_rad = quantization.beam.angle_x_rad;
  encode.reference_angle_y_rad = quantization.beam.angle_y_rad;
  if (phase) encode.level_phase_rad = diffusion.levels;
  const auto most = static_cast<float>(quantization.scale);
  describe_encoding(metadata, encode, {-most, most}, false);
  if (!phase && !diffusion.levels.empty()) set_metadata(metadata, "level_amplitude", diffusion.levels);
  set_metadata(metadata, "scale", quantization.scale);
  set_metadata(metadata, "quantize_method", quantization.method);
  if (quantization.method != "truncate") set_metadata(metadata, "serpentine", diffusion.serpentine ? "1" : "0");
  if (diffusion.hogel_px > 0) set_metadata(metadata, "hogel_px", std::to_string(diffusion.hogel_px));
  if (diffusion.borders == HogelBorders::carry) set_metadata(metadata, "hogel_borders", "carry");
  if (quantization.windows == nullptr) return;
  const auto& windows = *quantization.windows;
  set_metadata(metadata, "weights", std::to_string(windows.taps));
  set_metadata(metadata, "weights_kept", std::to_string(quantization.weights->max_used));
  set_metadata(metadata, "weights_rule", to_string(windows.rule));
  set_metadata(metadata, "weights_sum", quantization.weights->max_sum);
  set_metadata(metadata, "weights_p", windows.parallelism > 0 ? std::to_string(windows.parallelism) : "free");
  if (windows.rule == WeightRule::eq1)
    set_metadata(metadata, "weights_normalization", to_string(windows.normalization));
  if (windows.kappa_x == windows.kappa_y) set_metadata(metadata, "kappa", windows.kappa_x);
  set_metadata(metadata, "kappa_x", windows.kappa_x);
  set_metadata(metadata, "kappa_y", windows.kappa_y);
}

}  // namespace holotone
