#include <algorithm>
#include <holotone/hologram/encode_device.hpp>

namespace holotone::encoding {
namespace {

constexpr std::int64_t band_limit_pixels = 1 << 22;  // of burckhardt's rows at a time: 32 MiB
constexpr std::int64_t max_rows = 65535;             // of a CUDA grid

template <class T>
Array<T, 1> uploaded(const std::vector<T>& values, const Queue& queue) {
  if (values.empty()) return {};
  Array<T, 1> target({static_cast<std::int64_t>(values.size())}, queue);
  copy_bytes(target.data(), queue.device(), values.data(), Device{}, values.size() * sizeof(T), queue);
  return target;
}

const Complex32* plain(const Complex* values) { return reinterpret_cast<const Complex32*>(values); }

}  // namespace

DeviceEngine::DeviceEngine(const Tables& tables, const Queue& queue)
    : encoding_(tables.encoding),
      shape_(tables.shape),
      queue_(queue),
      boundary_(uploaded(tables.boundary, queue)),
      code_(uploaded(tables.code, queue)),
      bucket_(uploaded(tables.bucket, queue)),
      shift_column_(uploaded(tables.shift_column, queue)),
      shift_row_(uploaded(tables.shift_row, queue)),
      shift_map_(uploaded(tables.shift_map, queue)),
      beam_column_(uploaded(tables.beam_column, queue)),
      beam_row_(uploaded(tables.beam_row, queue)) {
  whole_.nx = shape_[1];
  whole_.phase = {tables.scale,     tables.last,  tables.threshold, static_cast<float>(tables.bucket.size()) - 1,
                  boundary_.data(), code_.data(), bucket_.data()};
  whole_.shift = {shift_column_.data(), shift_row_.data(), shift_map_.data()};
  whole_.beam_column = plain(beam_column_.data());
  whole_.beam_row = plain(beam_row_.data());
  whole_.levels = tables.levels;
  whole_.low = tables.low;
  whole_.high = tables.high;
  whole_.symmetric = tables.symmetric_range;
  if (tables.measured_range) {
    peak_ = Array<std::uint32_t, 1>({1}, queue);
    whole_.peak = peak_.data();
  }
  if (encoding_ == Encoding::single_sideband) {
    spectrum_ = Array<Complex, 2>(shape_, queue);
    fft_.emplace(shape_, queue);
  }
  if (encoding_ == Encoding::burckhardt) {
    const std::int64_t rows = std::clamp(band_limit_pixels / shape_[1], std::int64_t{1}, std::min(shape_[0], max_rows));
    spectrum_ = Array<Complex, 2>({rows, shape_[1]}, queue);
    fft_.emplace(Shape<2>{1, shape_[1]}, queue, FftOptions{.batch = rows});
  }
  queue.synchronize();  // the caller owns the tables
}

EncodeReport DeviceEngine::report() const {
  if (peak_.empty()) return {whole_.low, whole_.high};
  if (!ran_) return {};
  return range_of_peak(fetched(peak_), whole_.symmetric);
}

float DeviceEngine::peak(std::int64_t first_row, View<const Complex, 2> field) {
  if (encoding_ == Encoding::phase) return 0;
  Array<std::uint32_t, 1> peak({1}, queue_);
  measure_rows({first_row, field.shape()[0]}, field.data(), peak);
  return fetched(peak);
}

void DeviceEngine::measure_rows(const RowRange& part, const Complex* field, Array<std::uint32_t, 1>& peak) {
  clear(peak.data(), peak.bytes());
  for_blocks(part, field, [&](const RowRange& block, const Complex* values) {
    measure(make_parameters(block), plain(values), peak.data());
  });
}

float DeviceEngine::fetched(const Array<std::uint32_t, 1>& peak) const {
  float value = 0;
  copy_bytes(&value, Device{}, peak.data(), queue_.device(), sizeof(value), queue_);
  queue_.synchronize();
  return value;
}

std::size_t DeviceEngine::workspace_bytes() const {
  return shift_map_.bytes() + spectrum_.bytes() + (fft_ ? fft_->workspace_bytes() : 0);
}

Parameters DeviceEngine::make_parameters(const RowRange& part) const {
  Parameters p = whole_;
  p.count = part.rows * p.nx;
  p.odd = part.first_row % 2;
  if (p.shift.row != nullptr) p.shift.row += part.first_row;
  if (p.shift.map != nullptr) p.shift.map += part.first_row * p.nx;
  if (p.beam_row != nullptr) p.beam_row += part.first_row;
  return p;
}

template <class Code>
void DeviceEngine::run(const RowRange& part, const Complex* field, Code* codes) {
  if (encoding_ == Encoding::single_sideband) field = upper_sideband(field);
  if (!peak_.empty()) measure_rows(part, field, peak_);
  ran_ = true;
  for_blocks(part, field, [&](const RowRange& block, const Complex* values) {
    encode(make_parameters(block), plain(values), codes + (block.first_row - part.first_row) * shape_[1]);
  });
}

/// Calls body(rows, their values): once with all rows, or block by block with the band-limited rows of burckhardt.
template <class Body>
void DeviceEngine::for_blocks(const RowRange& part, const Complex* field, const Body& body) {
  if (encoding_ != Encoding::burckhardt) return body(part, field);
  for (std::int64_t done = 0; done < part.rows; done += spectrum_.shape()[0]) {
    const std::int64_t rows = std::min(spectrum_.shape()[0], part.rows - done);
    body({part.first_row + done, rows}, band_limited(field + done * shape_[1], rows));
  }
}

const Complex* DeviceEngine::upper_sideband(const Complex* field) {
  copy_bytes(spectrum_.data(), queue_.device(), field, queue_.device(), spectrum_.bytes(), queue_);
  fft_->execute(spectrum_.view(), FftDirection::forward);
  clear(spectrum_.data(), static_cast<std::size_t>(removed_rows(shape_[0]) * shape_[1]) * sizeof(Complex));
  fft_->execute(spectrum_.view(), FftDirection::inverse);
  return spectrum_.data();
}

/// The transform takes a whole block; rows beyond `rows` are ignored.
const Complex* DeviceEngine::band_limited(const Complex* field, std::int64_t rows) {
  const std::int64_t nx = shape_[1];
  copy_bytes(spectrum_.data(), queue_.device(), field, queue_.device(),
             static_cast<std::size_t>(rows * nx) * sizeof(Complex), queue_);
  fft_->execute(spectrum_.view(), FftDirection::forward);
  remove_bins(spectrum_.data(), rows, nx, removed_bins(nx));
  fft_->execute(spectrum_.view(), FftDirection::inverse);
  return spectrum_.data();
}

}  // namespace holotone::encoding
