#include <algorithm>
#include <holotone/hologram/stereogram/stereogram_device.hpp>

namespace holotone::stereogram {
namespace {

/// Number of hogels whose spectra fill 1 GiB, at most 1024.
std::int64_t batch_of(const Geometry& geometry) {
  const std::int64_t n = geometry.options.hogel_px;
  const std::int64_t fit = std::clamp<std::int64_t>((std::int64_t{1} << 27) / (n * n), 1, 1024);
  return std::min(fit, element_count(geometry.hogels));
}

std::int64_t max_rays(const Geometry& geometry) {
  std::int64_t most = 1;
  for (std::int64_t row = 0; row < geometry.hogels[0]; ++row) {
    for (std::int64_t column = 0; column < geometry.hogels[1]; ++column) {
      const auto hogel = geometry.hogel(row, column);
      most = std::max(most, hogel.rows * hogel.columns);
    }
  }
  return most;
}

LayerTurns to_layer_turns(double turns) {
  const auto high = static_cast<float>(turns);
  return {high, static_cast<float>(turns - static_cast<double>(high))};
}

}  // namespace

DeviceEngine::DeviceEngine(const Geometry& geometry, const Queue& queue)
    : geometry_(geometry),
      queue_(queue),
      n_(geometry.options.hogel_px),
      batch_(batch_of(geometry)),
      rays_(max_rays(geometry)),
      fft_({n_, n_}, queue, {.scale_inverse = false, .batch = batch_}),
      spectrum_({batch_ * n_, n_}, queue),
      hogels_({batch_}, queue),
      amplitude_({batch_ * rays_}, queue),
      layer_({batch_ * rays_}, queue),
      turns_({batch_ * max_layers}, queue),
      lights_(static_cast<std::size_t>(batch_)),
      host_hogels_(static_cast<std::size_t>(batch_)),
      host_turns_(static_cast<std::size_t>(batch_ * max_layers)) {}

StereogramReport DeviceEngine::execute(const ViewSource& source, int channel, const RowRange& part,
                                       View<Complex, 2> output, Progress& progress) {
  const std::int64_t across = geometry_.hogels[1];
  const std::int64_t all = across * geometry_.hogels[0];
  const auto [first_row, rows] = geometry_.hogel_rows(part);
  const std::int64_t count = across * rows;
  const Frame frame{n_, across, part.first_row, output.shape()[0], output.shape()[1], rays_, geometry_.options.seed};
  StereogramReport report;
  for (std::int64_t done = 0; done < count; done += batch_) {
    progress.step("computing hogels", first_row * across + done, all);
    const std::int64_t some = std::min(batch_, count - done);
    report += look_through_some(geometry_, source, channel, first_row * across + done, some, lights_, scratch_);
    // The call has read this batch's host memory when it returns. The GPU computes while the host prepares the next
    // batch.
    transform(frame, some, upload(some), output.data());
  }
  queue_.synchronize();
  progress.step("computing hogels", first_row * across + count, all);
  return report;
}

std::size_t DeviceEngine::workspace_bytes() const {
  return spectrum_.bytes() + amplitude_.bytes() + layer_.bytes() + turns_.bytes() + fft_.workspace_bytes();
}

/// Uploads the light of `some` hogels; returns the largest number of layers of a hogel.
int DeviceEngine::upload(std::int64_t some) {
  const auto send = [&](auto* target, const auto& values, std::size_t count) {
    copy_bytes(target, queue_.device(), values.data(), Device{}, count * sizeof(values[0]), queue_);
  };
  std::size_t layers = 1;
  std::fill(host_turns_.begin(), host_turns_.end(), LayerTurns{});
  for (std::int64_t i = 0; i < some; ++i) {
    auto& light = lights_[static_cast<std::size_t>(i)];
    light.layer.resize(light.amplitude.size(), 0);
    host_hogels_[static_cast<std::size_t>(i)] = light.hogel;
    std::transform(light.curvature.begin(), light.curvature.end(), host_turns_.begin() + i * max_layers,
                   [&](double curvature) { return to_layer_turns(curvature * geometry_.curvature_per_px2); });
    layers = std::max(layers, light.used.size());
    send(amplitude_.data() + i * rays_, light.amplitude, light.amplitude.size());
    send(layer_.data() + i * rays_, light.layer, light.layer.size());
  }
  send(hogels_.data(), host_hogels_, static_cast<std::size_t>(some));
  send(turns_.data(), host_turns_, static_cast<std::size_t>(some * max_layers));
  return static_cast<int>(layers);
}

void DeviceEngine::transform(const Frame& frame, std::int64_t some, int layers, Complex* output) {
  const Batch batch{some, hogels_.data(), amplitude_.data(), layer_.data(), turns_.data(), spectrum_.data()};
  for (int layer = 0; layer < layers; ++layer) {
    clear(spectrum_.data(), spectrum_.bytes());
    scatter(frame, batch, layer);
    fft_.execute(spectrum_.view(), FftDirection::inverse);
    write(frame, batch, layer, output);
  }
}

}  // namespace holotone::stereogram
