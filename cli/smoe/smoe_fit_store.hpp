#pragma once
#include <cli/smoe/smoe_fit_job.hpp>
#include <cstddef>
#include <holotone/smoe/model.hpp>
#include <vector>

namespace holotone::cli {

/// A stored model and its PSNR.
struct StoredFit {
  std::vector<std::byte> bytes;  ///< of a .smoe file; empty for JSON and NPZ
  SmoeModel model;               ///< as decoded from the file
  double psnr_db = 0;
};

/// Estimated time of psnr_of_pictures for such a model, from rendering one picture.
double measuring_seconds(const FitPictures& pictures, const SmoeModel& model, Device device);

/// Stores a fitted model as the job requires: lossless, at a quality, within a size, or in as few bytes as its PSNR
/// allows. `seconds_left` applies to the whole call if the job has a time limit.
StoredFit stored_fit(const SmoeFitJob& job, const FitPictures& pictures, const SmoeModel& model, double seconds_left);

}  // namespace holotone::cli
