#pragma once
// Models and pictures of the tables of Avramelos et al. 2020: generation, rendering, timing and checks.
#include <bench/baselines/avramelos_passes.hpp>
#include <holotone/core/device.hpp>
#include <holotone/smoe/render.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// A model and its picture. Light fields are rendered from the centre of the camera plane.
struct PictureModel {
  std::string name;
  holotone::SmoeModel model;
  std::int64_t width = 0;
  std::int64_t height = 0;
  double window_px = 0;  ///< relevance window of the paper for this picture
};

/// Random model from cases::dense_smoe.
PictureModel seeded_model(const std::string& name, int dimensions, std::int64_t count, std::int64_t width,
                          std::int64_t height, double window_px);
/// Substitutes for the paper's Lena, Car, Bikes and Friends, in this order. `small`: half as high and wide, a quarter
/// of the components.
std::vector<PictureModel> paper_pictures(bool small);
/// The model in a .smoe file repeated to the right and down until the picture is full; components outside it are
/// dropped. Throws for a file that is not .smoe, or of other than two dimensions and three channels.
PictureModel tiled_model(const std::string& path, std::int64_t width, std::int64_t height);

/// Sides of the paper's blocks, pixels.
inline constexpr std::int64_t block_sizes[] = {16, 32, 64, 128, 256};

/// Block of side x side pixels that contains the centre of the picture.
PixelBlock middle_block(const PictureModel& picture, std::int64_t side);

/// "Car, 21802 components, 512 x 512 pixels"
std::string describe(const PictureModel& picture);

/// SmoeSelection::window around blocks of `side` pixels.
holotone::SmoeRenderOptions window_options(std::int64_t side, double window_px);

/// Renders the whole picture and returns it in host memory. None, here and below, if SmoeRenderer does not support the
/// options on the device.
std::optional<holotone::Array<float, 3>> rendered(const PictureModel& picture,
                                                  const holotone::SmoeRenderOptions& options, holotone::Device device);

/// Decodes the whole picture by AvramelosPasses with the lists of blocks of `side` pixels; returns it in host memory.
holotone::Array<float, 3> decoded(const PictureModel& picture, std::int64_t side, DecoderMode mode,
                                  holotone::Device device);

/// Time of a picture or a block of it, and the pairs of a pixel and a component that it sums.
struct PairTime {
  double ms = 0;
  double pairs = 0;
};

/// Renders one block as a picture of its own, with pictures enqueued one behind the other. Light fields change the
/// camera position each time, so that no slice is reused.
std::optional<PairTime> render_time(const PictureModel& picture, const PixelBlock& block,
                                    const holotone::SmoeRenderOptions& options, holotone::Device device);

/// Decodes one block by AvramelosPasses, from a list made before.
PairTime decode_time(const PictureModel& picture, const PixelBlock& block, DecoderMode mode, holotone::Device device,
                     PassMemory memory = PassMemory::local);

/// Largest difference of the device's AvramelosPasses from the same arithmetic on the CPU, in a strip of 208 x 24
/// pixels of the picture, relative to its largest colour.
double decode_difference(const PictureModel& picture, DecoderMode mode, holotone::Device device, PassMemory memory);

/// Microseconds of a copy of `bytes` from page-locked host memory to the device (`up`) or back, including the wait.
double transfer_us(std::int64_t bytes, holotone::Device device, bool up);

/// The same through mapped blocks (MappedBuffer); none on other backends than OpenCL. Throws std::runtime_error if what
/// comes back is not what went there.
std::optional<double> mapped_us(std::int64_t bytes, holotone::Device device, bool up);

/// Microseconds of what SmoeRenderer itself moves.
struct RendererTransfers {
  double up = 0;     ///< its constructor: checks the model, allocates, copies and prepares the components
  double down = 0;   ///< a picture in float32 to an Array of the host, `to(Device{})`
  double codes = 0;  ///< the same of 8-bit codes
};
/// Transfers of the listed components (two dimensions, three channels), and of a picture of `size`.
std::optional<RendererTransfers> renderer_transfers(const holotone::SmoeModel& model,
                                                    const std::vector<std::int64_t>& list,
                                                    const holotone::Shape<2>& size, holotone::Device device);

/// Components in the window around a block, mean over the picture's pixels.
double mean_in_windows(const PictureModel& picture, std::int64_t side, double window_px);

/// Time and error of a whole picture.
struct FrameResult {
  double kernels = 0;  ///< mean components per tile
  double ms = 0;
  double error =
      0;  ///< largest of 200 pixels; reference: float64 sum over the window's list, otherwise over all components
};

/// Renders and measures a model of two dimensions. Throws std::runtime_error if the error exceeds 1e-4 in a window, or
/// the tolerance.
std::optional<FrameResult> frame(const PictureModel& picture, const holotone::SmoeRenderOptions& options,
                                 holotone::Device device);

/// The same by AvramelosPasses in its fast mode, with lists of blocks of `side` pixels made before; any error is only
/// reported. None on the CPU if it would take more than about a second.
std::optional<FrameResult> passes_frame(const PictureModel& picture, std::int64_t side, holotone::Device device,
                                        PassMemory memory = PassMemory::local);

}  // namespace bench
