#include <cli/common/hologram_encoder.hpp>
#include <cli/common/paths.hpp>
#include <holotone/recipes/hologram_file.hpp>

namespace holotone::cli {

void put_out(const HologramJob& job, std::size_t channel, const MadeHologram& hologram) {
  if (job.shown) return job.shown->add(channel, *hologram.image);
  UnfinishedRun::will_write(hologram.output);
  write_hologram(hologram, job.writing);
}

void write_hologram(const MadeHologram& hologram, const ImageWriteOptions& writing) {
  if (hologram.image) {
    write_image(hologram.output, *hologram.image, writing);
  } else {
    write_field(hologram.output, *hologram.field);
  }
}

HologramEncoder::HologramEncoder(const HologramJob& job, const Channel& channel, const Queue& queue)
    : job_(job), options_(job.encode_options(channel)), queue_(queue) {
  if (job.complex_field) return;
  const Shape<2> shape{job.panel.ny, job.panel.nx};
  plan_.emplace(options_, job.grid(channel), queue);
  if (options_.bits <= 8 && !job.packed16) {
    bytes_ = Array<std::uint8_t, 2>(shape, queue);
  } else {
    words_ = Array<std::uint16_t, 2>(shape, queue);
  }
}

void HologramEncoder::encode(View<const Complex, 2> field, EncodedHologram& made) {
  if (job_.complex_field) {
    made.field = FieldFile{copy_of(field, Device{}), {}};
  } else if (!bytes_.empty()) {
    plan_->execute(field, bytes_.view());
    made.image = Image{fetch(bytes_, queue_), {}};
  } else {
    plan_->execute(field, words_.view());
    made.image = image_of_words(fetch(words_, queue_), job_.packed16);
  }
}

View<const std::uint8_t, 2> HologramEncoder::encode(View<const Complex, 2> field) {
  plan_->execute(field, bytes_.view());
  return bytes_.view();
}

void HologramEncoder::describe(Metadata& metadata) const {
  if (!job_.correction.empty()) set_metadata(metadata, "correction", job_.correction);
  if (job_.complex_field) {
    set_metadata(metadata, "encoding", "complex");
  } else {
    describe_encoding(metadata, options_, plan_->report(), job_.packed16);
  }
}

Metadata panel_metadata(const Panel& panel, const Channel& channel) {
  Metadata metadata;
  set_metadata(metadata, "software", "holotone " HOLOTONE_VERSION);
  set_metadata(metadata, "panel", panel.name);
  set_metadata(metadata, "pitch_m", panel.pitch_m);
  set_metadata(metadata, "wavelength_m", channel.wavelength_m);
  if (!channel.name.empty()) set_metadata(metadata, "channel", channel.name);
  return metadata;
}

}  // namespace holotone::cli
