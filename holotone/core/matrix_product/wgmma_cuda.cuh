#pragma once
// Hopper's asynchronous instructions (compute capability 9.0, target 90a): barriers of shared memory, copies of tensor
// boxes, and products of warpgroups. For kernels only. Not for users.
//
// Operands in shared memory are rows of 128 bytes (64 halves of the depth). Their pieces of 16 bytes are permuted as
// copies of tensors do it (CU_TENSOR_MAP_SWIZZLE_128B): piece p of row r lies at place p ^ (r % 8) of the row.
#include <cstdint>
#include <cuda_runtime.h>

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HOLOTONE_WGMMA_CODE 1
#else
#define HOLOTONE_WGMMA_CODE 0
#endif

namespace holotone::cuda {

constexpr int wgmma_row_bytes = 128;
constexpr int wgmma_depth = 64;  ///< halves of a row
constexpr int wgmma_rows = 64;   ///< of C, a warpgroup
constexpr int warpgroup_threads = 128;

/// Multiprocessors of the current device if it runs this build's code for these instructions; else 0.
int hopper_processors();

#if HOLOTONE_WGMMA_CODE

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void init_barrier(std::uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
/// Makes initialised barriers visible to copies.
__device__ __forceinline__ void fence_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
/// Arrives and announces bytes of copies, whose end the barrier then awaits too.
__device__ __forceinline__ void arrive_with_bytes(std::uint64_t* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
/// Waits for the end of the barrier's phase of this parity.
__device__ __forceinline__ void wait_barrier(std::uint64_t* barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

/// Copies a box of a tensor of three dimensions to shared memory; what lies outside the tensor becomes zero.
__device__ __forceinline__ void copy_box(void* to, const void* tensor_map, int x, int y, int z,
                                         std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::
          "r"(shared_address(to)),
      "l"(tensor_map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z)
      : "memory");
}
/// Makes ordinary stores to shared memory visible to products and copies.
__device__ __forceinline__ void fence_shared_stores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

template <int Registers>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

/// Describes rows of 128 bytes, permuted as above, from an address that is a multiple of 1024; 32 bytes farther are the
/// next 16 halves of the depth.
__device__ __forceinline__ std::uint64_t operand_of(std::uint32_t address) {
  constexpr std::uint64_t rows_apart = std::uint64_t{(8 * wgmma_row_bytes) >> 4} << 32;
  constexpr std::uint64_t swizzled = std::uint64_t{1} << 62;
  return swizzled | rows_apart | std::uint64_t{1} << 16 | ((address & 0x3ffffU) >> 4);
}

__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until at most `Pending` committed groups are under way.
template <int Pending>
__device__ __forceinline__ void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

/// After wait_products<0>: keeps the compiler from reading sums before.
template <int Count>
__device__ __forceinline__ void finish(float (&sums)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

#define HOLOTONE_SUMS_8(i)                                                                                      \
  "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), "+f"(sums[i + 5]), \
      "+f"(sums[i + 6]), "+f"(sums[i + 7])
#define HOLOTONE_SUMS_64(i)                                                                     \
  HOLOTONE_SUMS_8(i), HOLOTONE_SUMS_8(i + 8), HOLOTONE_SUMS_8(i + 16), HOLOTONE_SUMS_8(i + 24), \
      HOLOTONE_SUMS_8(i + 32), HOLOTONE_SUMS_8(i + 40), HOLOTONE_SUMS_8(i + 48), HOLOTONE_SUMS_8(i + 56)
#define HOLOTONE_NAMES_64                                                                                          \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
  "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, " \
  "%46, "                                                                                                          \
  "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define HOLOTONE_NAMES_128                                                                                           \
  HOLOTONE_NAMES_64                                                                                                  \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, " \
  "%86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, " \
  "%107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, "     \
  "%125, %126, %127"

/// Enqueues sums(64 x 128 or 256) += Sign A B^T over 16 halves of the depth; add = 0: sums = Sign A B^T.
/// Sums: lane l of warp w holds, as number i, row 16 w + l / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2 (l % 4) + i % 2.
template <int Sign = 1>
__device__ __forceinline__ void multiply(float (&sums)[64], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" HOLOTONE_NAMES_64
      "}, %64, %65, p, %67, 1, 0, 0;\n"
      "}"
      : HOLOTONE_SUMS_64(0)
      : "l"(a), "l"(b), "r"(add), "n"(Sign));
}
template <int Sign = 1>
__device__ __forceinline__ void multiply(float (&sums)[128], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" HOLOTONE_NAMES_128
      "}, %128, %129, p, %131, 1, 0, 0;\n"
      "}"
      : HOLOTONE_SUMS_64(0), HOLOTONE_SUMS_64(64)
      : "l"(a), "l"(b), "r"(add), "n"(Sign));
}

#undef HOLOTONE_SUMS_8
#undef HOLOTONE_SUMS_64
#undef HOLOTONE_NAMES_64
#undef HOLOTONE_NAMES_128

#endif

}  // namespace holotone::cuda
