#include <cli/common/address_space.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/paths.hpp>
#include <cli/hologram/common/memory_estimate.hpp>
#include <fmt/format.h>
#include <holotone/hologram/point_cloud_detail.hpp>
#include <holotone/io/file_format_detail.hpp>

namespace holotone::cli {
namespace {

// Bytes per pixel, from the peak resident memory of 25-megapixel runs.
constexpr double field_bytes = 8;
constexpr double copy_bytes = 8;  ///< copy of a complex field for its file
/// Independent of the panel's size: factors of a chunk (40 MiB), points and small buffers.
constexpr double constant_bytes = 96 << 20;

/// Memory of one channel on the computing device, in bytes per pixel.
double channel_bytes(const HologramJob& job) {
  double bytes = field_bytes + sum_bytes_a_pixel(job.sum, job.device.backend);
  if (job.complex_field) return bytes;
  bytes += job.encode.bits <= 8 && !job.packed16 ? 1 : 2;
  if (!encoding_traits(job.encode.encoding).by_rows) bytes += field_bytes;
  if (!job.correction_rad.empty()) bytes += sizeof(float);
  return bytes;
}

/// Memory of one finished hologram and of writing its file, in bytes per pixel.
double written_bytes(const HologramJob& job) {
  const auto format = io::file_format(job.output);
  if (job.complex_field) return format == io::FileFormat::hdf5 ? copy_bytes : 2 * copy_bytes;
  const double codes = job.packed16 ? 3 + 2 : job.encode.bits <= 8 ? 1 : 2;
  return format == io::FileFormat::bmp ? 2 * codes : codes;
}

/// `with_device`: includes the memory of the computing device, which may be the host.
double bytes_for(const HologramJob& job, bool with_device) {
  const double pixels = static_cast<double>(job.panel.nx) * static_cast<double>(job.panel.ny);
  const double channels = with_device ? static_cast<double>(job.channels.size()) * channel_bytes(job) : 0;
  const double correction = job.correction_rad.empty() ? 0 : sizeof(float);
  return constant_bytes + pixels * (channels + correction + written_bytes(job));
}

/// Workspace of `fast` in addition to the field, for any points. That of the other methods is counted per pixel.
double fast_bytes(const HologramJob& job) {
  if (job.sum.method != PointMethod::fast) return 0;
  return static_cast<double>(point_cloud_workspace_bytes(job.sum_options(job.channels.front()), PointMethod::fast, 0));
}

}  // namespace

double written_bytes_for(const HologramJob& job) {
  const double pixels = static_cast<double>(job.panel.nx) * static_cast<double>(job.panel.ny);
  return constant_bytes + pixels * written_bytes(job);
}

double bytes_for_whole(const HologramJob& job) { return bytes_for(job, true); }

void require_memory_for(const HologramJob& job) {
  take_blas_buffers(static_cast<int>(job.devices.size()));
  const std::string_view who = job.panel.name == "custom" ? "--resolution" : "--panel";
  const bool on_host = job.device.backend == Backend::cpu;
  if (job.rows_at_once > 0) {
    const double pixels = static_cast<double>(job.panel.nx) * static_cast<double>(job.rows_at_once);
    const auto devices = static_cast<double>(job.devices.size());
    // Each device computes a band while one more is written.
    const double written = job.complex_field ? field_bytes : job.encode.bits <= 8 ? 1 : 2;
    const double computed = on_host ? devices * (pixels * channel_bytes(job) + fast_bytes(job)) : 0;
    require_memory(who, constant_bytes + pixels * (devices + 1) * written + computed,
                   fmt::format("bands of {} rows of {} pixels", job.rows_at_once, job.panel.nx));
    return;
  }
  require_memory(
      who, bytes_for(job, on_host) + (on_host ? fast_bytes(job) : 0),
      fmt::format("{}{} x {} pixels", job.channels.size() > 1 ? "three times " : "", job.panel.nx, job.panel.ny),
      job.complex_field
          ? ""
          : "a complex field (-o NAME.h5) needs little memory, and `holotone quantize` converts it to codes");
}

}  // namespace holotone::cli
