#include <holotone/recipes/operations.hpp>

namespace holotone {
namespace {

constexpr Operation all[] = {
    {"points to field: `direct`, `recurrence`", "PointCloudPlan", true, true},
    {"points to field: `separable`, `fast`", "PointCloudPlan", true, false},
    {"field to points: adjoint", "PointCloudPlan::adjoint", true, false},
    {"layers to field", "LayerPlan", true, true},
    {"light field to field", "StereogramPlan", true, true},
    {"field to codes: encodings", "EncodePlan", true, true},
    {"field to codes: error diffusion", "ErrorDiffusionPlan", true, false},
    {"picture to phase: retrieval", "PhaseRetrievalPlan", true, false},
    {"FFT", "FftPlan", true, true},
    {"non-uniform FFT", "NufftPlan", true, false},
    {"propagation", "PropagationPlan", true, true},
    {"propagation out of core", "LargePropagationPlan", true, true},
    {"reconstruction with pupil", "ReconstructionPlan", true, true},
    {"focal plane of a lens", "FourierLensPlan", false, false},
    {"view of an eye", "EyePlan", true, true},
    {"view of an eye: complex field, adjoint", "EyePlan::adjoint", true, false},
    {"electrostatic halftoning", "ElectrostaticPlan", true, false},
    {"dots drawn from a picture", "DotSampler", true, false},
    {"mixtures: rendering", "SmoeRenderer", true, true},
    {"mixtures: colours to codes", "smoe_codes", true, true},
    {"mixtures: fitting", "SmoeFitter", true, false},
};

}  // namespace

std::span<const Operation> operations() { return all; }

bool has_operation(const Operation& operation, Backend backend) {
  switch (backend) {
    case Backend::cpu: return true;
    case Backend::cuda: return operation.cuda;
    case Backend::opencl: return operation.opencl;
  }
  return false;
}

}  // namespace holotone
