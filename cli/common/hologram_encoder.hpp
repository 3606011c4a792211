#pragma once
#include <cli/common/hologram_job.hpp>
#include <cli/common/hologram_overrides.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/codes/fetched_codes_detail.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

/// One hologram in host memory: codes or the complex field.
struct EncodedHologram {
  std::optional<Image> image;
  std::optional<FieldFile> field;
  [[nodiscard]] Metadata& metadata() { return image ? image->metadata : field->metadata; }
};

/// Encoded hologram with its output name, ready to be written.
struct MadeHologram : EncodedHologram {
  std::string output;
  Flags reconstruct_flags;  ///< see flags_for
};

/// Writes to a temporary name that is renamed when complete. `writing`: of codes.
void write_hologram(const MadeHologram& hologram, const ImageWriteOptions& writing);

/// Writes a new output of the run, or adds it to the job's panel as one of this channel.
void put_out(const HologramJob& job, std::size_t channel, const MadeHologram& hologram);

/// Encoder of a channel's complex field to the content of its file; keeps its plan and device memory.
class HologramEncoder {
 public:
  HologramEncoder(const HologramJob& job, const Channel& channel, const Queue& queue);
  /// `field` {ny, nx} on the queue's device.
  void encode(View<const Complex, 2> field, EncodedHologram& made);
  /// The codes of up to 8 bits on the queue's device, until the next call. Only enqueues what the plan enqueues.
  View<const std::uint8_t, 2> encode(View<const Complex, 2> field);
  /// Adds the metadata that decode the last encoded hologram.
  void describe(Metadata& metadata) const;

 private:
  const HologramJob& job_;
  EncodeOptions options_;
  Queue queue_;
  std::optional<EncodePlan> plan_;  ///< none for a complex field
  Array<std::uint8_t, 2> bytes_;    ///< codes of up to 8 bits
  Array<std::uint16_t, 2> words_;   ///< codes of more than 8 bits, or to be packed
};

/// Metadata of every hologram's file: software, panel, pitch, wavelength and channel.
Metadata panel_metadata(const Panel& panel, const Channel& channel);

}  // namespace holotone::cli
