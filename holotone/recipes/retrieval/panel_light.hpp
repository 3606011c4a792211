#pragma once
// Not for users. Phases as a panel shows them, and the light on it.
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/retrieval.hpp>
#include <string>

namespace holotone {

/// Throws invalid_argument naming the function `retrieve_picture` for options that no retrieval takes.
void require_retrieval(const PictureRetrievalOptions& options);

/// What files of the retrieval's codes state: distance_m, focal_length_m, phase, signal_region and seed.
Metadata retrieval_metadata(const PictureRetrievalOptions& options, StartPhase start);

/// True if the options state no start, and transport suits them.
bool may_transport(const PictureRetrievalOptions& options);

/// Rounding of the options, chosen or by itself.
CodeRounding chosen_rounding(const PictureRetrievalOptions& options);

/// Phases of the codes that a panel shows.
std::vector<double> code_phases(const EncodeOptions& encoding);

/// exp(i phase).
Array<Complex, 2> phase_wave(View<const float, 2> phase_rad);

/// Codes of a phase {ny, nx}, and the phase that a panel shows by them without what they add.
struct PhaseCodes {
  Array<std::uint16_t, 2> codes;
  Array<float, 2> shown_rad;
};
PhaseCodes phase_codes(View<const float, 2> phase_rad, const EncodeOptions& encoding, const FieldGrid& grid);

/// Phase {ny, nx} that the codes add to the hologram's: carrier and correction; empty for none.
Array<float, 2> added_phase(const EncodeOptions& encoding, const FieldGrid& grid);

/// Light {ny, nx} that falls on the panel; empty: the same everywhere.
Array<Complex, 2> beam_light(const PictureRetrievalOptions& options);

/// Makes light zero beyond a round pupil; empty light is even before. Throws invalid_argument for one that lights no
/// pixel.
void clip_to_pupil(Array<Complex, 2>& light, const FieldGrid& grid, double diameter_m);

/// Phases {frames, ny, nx} of hologram files, one for each frame, without what their codes add by `encoding`. Throws io
/// naming the file for a picture that states no encoding unless `reading` has `adjust`, for another shape than the
/// grid's, and as read_hologram.
Array<float, 3> stored_phases(const std::vector<std::string>& files, const FieldGrid& grid,
                              const EncodeOptions& encoding, HologramReadOptions reading = {});

}  // namespace holotone
