#pragma once
// For the kernels of spots: waves, pairs of narrow numbers, the light's parts, the update of a spot. Not for users.
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/retrieval/spots/spot_kernels_cuda.hpp>
#include <type_traits>

namespace holotone::spots {

using Fp8 = __nv_fp8_e4m3;

__device__ __forceinline__ float2 unit_wave(float turns) {
  float sine = 0;
  float cosine = 0;
  __sincosf(6.2831853F * (turns - rintf(turns)), &sine, &cosine);
  return {cosine, sine};
}

/// Two numbers side by side, as one store.
template <class T>
__device__ __forceinline__ void store_pair(T* to, float a, float b) {
  if constexpr (std::is_same_v<T, __half>) {
    *reinterpret_cast<__half2*>(to) = __floats2half2_rn(a, b);
  } else {
    *reinterpret_cast<__nv_fp8x2_storage_t*>(to) = __nv_cvt_float2_to_fp8x2(float2{a, b}, __NV_SATFINITE, __NV_E4M3);
  }
}

/// N numbers side by side, as one store.
template <class T, int N>
__device__ __forceinline__ void store_all(T* to, const float (&value)[N]) {
  struct alignas(N * sizeof(T)) All {
    T number[N];
  } all;
#pragma unroll
  for (int i = 0; i < N; i += 2) store_pair(all.number + i, value[i], value[i + 1]);
  *reinterpret_cast<All*>(to) = all;
}

/// Light's amplitude and phase at a pixel.
struct PixelLight {
  float modulus = 1;
  float2 phase{1, 0};

  __device__ PixelLight(const float2* light, std::int64_t i) {
    if (light == nullptr) return;
    const float2 value = light[i];
    modulus = sqrtf(value.x * value.x + value.y * value.y);
    phase = modulus > 0 ? float2{value.x / modulus, value.y / modulus} : float2{1, 0};
  }
};

/// In [0, 1), to the nearest of `levels` unless 0.
__device__ __forceinline__ float rounded(float turns, int levels) {
  turns -= floorf(turns);
  if (levels > 0) turns = rintf(turns * static_cast<float>(levels)) / static_cast<float>(levels);
  return turns < 1 ? turns : 0.0F;
}
/// Argument of a wave in turns, to 5e-8 turns: a minimax polynomial of the tangent of up to an eighth of a turn.
__device__ __forceinline__ float turns_of_wave(float2 wave) {
  const float x = fabsf(wave.x);
  const float y = fabsf(wave.y);
  const float tangent = __fdividef(fminf(x, y), fmaxf(fmaxf(x, y), 1e-30F));
  const float square = tangent * tangent;
  float turns = 1.08413043e-3F;
  turns = fmaf(turns, square, -5.34827753e-3F);
  turns = fmaf(turns, square, 1.2672501e-2F);
  turns = fmaf(turns, square, -2.10615182e-2F);
  turns = fmaf(turns, square, 3.15251177e-2F);
  turns = fmaf(turns, square, -5.30262382e-2F);
  turns = fmaf(turns, square, 0.159154324F);
  turns *= tangent;
  if (y > x) turns = 0.25F - turns;
  if (wave.x < 0) turns = 0.5F - turns;
  return wave.y < 0 ? -turns : turns;
}
__device__ __forceinline__ float panel_turns(float2 field, const PixelLight& light) {
  return turns_of_wave(cuda::product(field, {light.phase.x, -light.phase.y}));
}
__device__ __forceinline__ float2 modulated(float turns, const PixelLight& light) {
  const float2 wave = cuda::product(unit_wave(turns), light.phase);
  return {light.modulus * wave.x, light.modulus * wave.y};
}

/// A spot before a step.
struct SpotState {
  float target = 0;
  float weight = 0;
  float2 unit{};
  float level = 0;  ///< of all spots

  SpotState() = default;
  __device__ SpotState(const SpotArrays& spots, const SpotUpdate& update, int m)
      : target(spots.place[m].w),
        weight(spots.weight[m]),
        unit(spots.unit[m]),
        level(sqrtf(update.level_in->x / update.count)) {}
};

/// Factor of v: that of V, of what a spot lacks times its share of the gain.
__device__ __forceinline__ float wave_scale(const SpotArrays& spots, const SpotUpdate& update, int m) {
  const bool is_shared = spots.share != nullptr && update.next != NextWaves::weights;
  return is_shared ? update.scale * spots.share[m] : update.scale;
}

/// The update of one spot from its u, and v of the next step.
__device__ __forceinline__ float2 update_spot(const SpotArrays& spots, const SpotUpdate& update, int m, float2 u,
                                              SpotState state, const SpotPace& before, bool writes) {
  constexpr auto change = static_cast<float>(max_weight_change);
  const float size = sqrtf(u.x * u.x + u.y * u.y);
  const float2 direction = size > 0 ? float2{u.x / size, u.y / size} : state.unit;
  if (update.taken == Taken::free || update.taken == Taken::kept) state.unit = direction;
  if (update.taken == Taken::free || update.taken == Taken::locked) {
    const float wanted = fminf(fmaxf(state.target * state.level / fmaxf(size, 1e-9F), 1 / change), change);
    if (update.taken == Taken::free) {
      state.weight *= wanted;
    } else {
      SpotPace pace = before;
      state.weight *= paced_change(wanted, pace);
      if (writes) spots.pace[m] = pace;
    }
  }
  if (writes && update.taken != Taken::start) {
    spots.value[m] = u;
    if (update.taken != Taken::look) {
      spots.weight[m] = state.weight;
      spots.unit[m] = state.unit;
    }
  }
  if (update.next == NextWaves::lack || update.next == NextWaves::held_lack) {
    const float wanted = state.target * state.level;
    const float2 to = update.next == NextWaves::lack ? direction : state.unit;
    return {update.gain * (wanted * to.x - u.x), update.gain * (wanted * to.y - u.y)};
  }
  return {state.weight * state.unit.x, state.weight * state.unit.y};
}

}  // namespace holotone::spots
