#pragma once
// Not for users. The view of a hologram, which stays open for further pictures. viewing.hpp makes them at once.
#include <cstddef>
#include <functional>
#include <holotone/core/error.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/viewing/light_picture.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holotone {

/// Hologram file and how it is read.
struct HologramSource {
  std::string path;
  HologramReadOptions reading{};
};

/// One hologram, or red, green and blue in any order.
using HologramSources = std::vector<HologramSource>;

struct HologramViewOptions {
  ViewingOptions viewing{};
  std::vector<Device> devices{Device{}};  ///< several only for an eye of several pictures
  bool any_distance = false;              ///< true: focuses at other distances follow
  bool keeps_light = false;               ///< true: lights() are kept
  /// Called with the bytes of host memory that an eye needs, before they are allocated; may throw. May be empty.
  std::function<void(double bytes, std::string_view what)> on_memory{};
};

/// Throws an error of a plan with the function `open_hologram` and the member of ViewingOptions that set its argument;
/// returns for other errors.
void throw_for_option(const Error& error);

/// Calls work(); errors of plans name the options.
template <class Work>
auto with_option_names(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw_for_option(error);
    throw;
  }
}

/// Pupil of a picture.
const EyePupil& pupil_of(const ViewingOptions& options, std::size_t frame);

/// Number of pictures of each hologram.
std::size_t frame_count(const ViewingOptions& options);

/// Pictures of one hologram, or of three together in colour, focused at any distance.
class HologramView {
 public:
  virtual ~HologramView() = default;

  /// Picture of a frame, focused at its distance.
  virtual LightPicture picture(double distance_m, std::size_t frame, Progress& progress) = 0;
  /// Makes the pictures of all frames at once, each focused at its distance, where several devices share them.
  virtual void prepare(std::span<const double> /*distances_m*/, Progress& /*progress*/) {}
  /// Complex field in focus at a distance, on the host; at 0 that of the panel. Throws invalid_argument naming `show`
  /// for several holograms, an eye or a lens.
  virtual Array<Complex, 2> field(double distance_m);
  /// Another pupil instead of that of the options, or none. False: this view has to be made anew for it.
  virtual bool set_aperture(const std::optional<Aperture>& /*aperture*/) { return false; }
  [[nodiscard]] virtual PropagationMethod method_for(double distance_m) const = 0;
  /// Share of the hologram's light through the pupil of each computed frame; empty without an eye.
  [[nodiscard]] virtual std::vector<double> light_shares() const { return {}; }
  /// Light of the channels, red, green and blue, in host memory; empty unless it is kept.
  [[nodiscard]] virtual std::span<const HologramLight> lights() const { return {}; }
  /// Grid of the pictures.
  [[nodiscard]] const FieldGrid& grid() const { return grid_; }
  /// Path of the first file as given.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const Metadata& metadata() const { return metadata_; }
  [[nodiscard]] const std::string& encoding() const { return encoding_; }
  [[nodiscard]] const std::string& filter() const { return filter_; }
  /// How the files' codes were read, a line each with its name.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const ViewingOptions& options() const { return options_; }
  /// Distance stated by the file. Throws invalid_argument naming distances_m if it states none.
  [[nodiscard]] double stated_distance_m() const;
  /// Distance of each picture: those of the options, else the stated one.
  [[nodiscard]] std::vector<double> distances_m() const;
  /// Of each file, in the order of the channels.
  [[nodiscard]] std::span<const double> wavelengths_m() const { return wavelengths_m_; }
  /// Intensity of a picture value of 1: not 1 only if float32 does not hold the intensities. Valid after the first
  /// picture.
  [[nodiscard]] double unit() const { return unit_; }
  /// Files without any light. Valid after the first picture.
  [[nodiscard]] const std::vector<std::string>& dark() const { return dark_; }

 protected:
  explicit HologramView(ViewingOptions options) : options_(std::move(options)) {}
  /// Copies the first file's grid and metadata.
  void describe(const HologramLight& light);
  /// Copies those of another view.
  void describe(const HologramView& view);
  /// Scales a file's light to the range of float32. Returns the factor of its intensities: their unit times the weight
  /// among three.
  double expose(HologramLight& light, bool colour);

  ViewingOptions options_;
  FieldGrid grid_;
  std::string path_;
  std::vector<std::string> notes_;
  double unit_ = 1;
  std::vector<std::string> dark_;
  std::vector<double> wavelengths_m_;

 private:
  Metadata metadata_;
  std::string encoding_;
  std::string filter_;
};

/// True if a hologram states the focal length of a lens.
bool has_lens(const Metadata& metadata);

/// Opens one hologram, or several subframes whose light adds: in a plane, behind a lens, or through an eye. Throws io,
/// or invalid_argument naming the function `open_hologram` and a member of the options.
std::unique_ptr<HologramView> open_hologram(const std::vector<HologramSources>& subframes,
                                            const HologramViewOptions& options);

/// Sorts into red, green, blue as the files state, else keeps the order given. Throws io if the files do not belong
/// together.
void put_in_order(std::vector<const HologramLight*>& lights);

/// Weight of a channel's light among three; `sum` is the sum of its squared moduli. A phase hologram shows every object
/// equally bright: the object's own energy, which the file states, sets the channels' balance.
double weight_of(const HologramLight& light, double sum);

/// Reads files; three in the order of put_in_order. Throws io, also if three of them do not belong together.
std::vector<HologramLight> read_lights(const HologramSources& sources);

}  // namespace holotone
