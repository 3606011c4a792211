#include <holotone/recipes/operations.hpp>

namespace holotone {
namespace {

constexpr Operation all[] = {
    {OperationId::point_sum, "points to field: `direct`, `recurrence`", "PointCloudPlan", true, true},
    {OperationId::fast_point_sum, "points to field: `separable`, `fast`", "PointCloudPlan", true, false},
    {OperationId::point_adjoint, "field to points: adjoint", "PointCloudPlan::adjoint", true, false},
    {OperationId::layers, "layers to field", "LayerPlan", true, true},
    {OperationId::stereogram, "light field to field", "StereogramPlan", true, true},
    {OperationId::encoding, "field to codes: encodings", "EncodePlan", true, true},
    {OperationId::error_diffusion, "field to codes: error diffusion", "ErrorDiffusionPlan", true, false},
    {OperationId::phase_retrieval, "picture to phase: retrieval", "PhaseRetrievalPlan", true, false},
    {OperationId::spots, "spots to phase", "SpotPlan", true, true},
    {OperationId::fft, "FFT", "FftPlan", true, true},
    {OperationId::nufft, "non-uniform FFT", "NufftPlan", true, false},
    {OperationId::propagation, "propagation", "PropagationPlan", true, true},
    {OperationId::large_propagation, "propagation out of core", "LargePropagationPlan", true, true},
    {OperationId::reconstruction, "reconstruction with pupil", "ReconstructionPlan", true, true},
    {OperationId::fourier_lens, "focal plane of a lens", "FourierLensPlan", false, false},
    {OperationId::eye, "view of an eye", "EyePlan", true, true},
    {OperationId::eye_adjoint, "view of an eye: complex field, adjoint", "EyePlan::adjoint", true, false},
    {OperationId::electrostatic_halftoning, "electrostatic halftoning", "ElectrostaticPlan", true, false},
    {OperationId::dot_sampling, "dots drawn from a picture", "DotSampler", true, false},
    {OperationId::mixture_rendering, "mixtures: rendering", "SmoeRenderer", true, true},
    {OperationId::mixture_codes, "mixtures: colours to codes", "smoe_codes", true, true},
    {OperationId::mixture_fitting, "mixtures: fitting", "SmoeFitter", true, false},
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
