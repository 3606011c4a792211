#pragma once
#include <cli/smoe/smoe_fit_job.hpp>
#include <cstddef>
#include <holotone/smoe/model.hpp>
#include <vector>

namespace holotone::cli {

/// What is written, and how near it is to the pictures.
struct StoredFit {
  std::vector<std::byte> bytes;  ///< of a .smoe file; none of JSON and NPZ
  SmoeModel model;               ///< as the file gives it back
  double psnr_db = 0;
};

/// About how long psnr_of_pictures takes for a model like this one: one of the pictures is rendered.
double measuring_seconds(const FitPictures& pictures, const SmoeModel& model, Device device);

/// A fitted model as the job wants it stored: exactly, at a quality, in so many bytes, or in as few bytes as its PSNR
/// allows. `seconds_left` is for all of it where the job has a limit.
StoredFit stored_fit(const SmoeFitJob& job, const FitPictures& pictures, const SmoeModel& model, double seconds_left);

}  // namespace holotone::cli
