#!/usr/bin/env python3
"""Times phase retrieval in PyTorch, method by method, by the measure of holotone_bench's optimize/ rows.

    bench/baselines/retrieval_torch.py neural_holography_1.png [--json retrieval_torch.json] [--device cuda]
    bench/baselines/retrieval_torch.py picture.png --device cpu --small 256     # a check, not a timing

Needs Python with torch and numpy, and Pillow or torchvision for a PNG; an .npy holds the amplitude {ny, nx} instead.
The picture's green light (sRGB) on a panel of as many pixels of 6.4 um, 520 nm, 20 cm, band-limited angular spectrum on
an array of twice the sides. Regions: the whole picture less 1/12 of each width (160 of 1920) and about 1/11 of each
height (100 of 1080), and the whole picture. Phases are rounded to 8 bits, then measured as PhaseRetrievalPlan::quality
does: PSNR of the amplitude at each of four half-pixel positions, with the best scale at each; the peak is the largest
target in the region. The target between samples is the picture's cosine series, 0 where that is negative.

Methods, from torch's own operations and float32, without torch.compile:
  adam        Adam as the code of Peng et al. 2020 ("Neural holography with camera-in-the-loop training") runs its
              "SGD": rate 8e-3 rad, mean squared error of the amplitude at the samples. The scale is their learned one
              (`learned`, its rate 2e-3, from the mean ratio) or in closed form at each step (`closed`). The code's
              ASM model, its pupil and target crop are replaced by the light above.
  gs          Gerchberg and Saxton 1972: in the region the amplitude is replaced by the scaled target, at the samples;
              `free` keeps the light beside it, `zero` removes it.
  dpac        Double phase amplitude coding (Hsueh and Sawchuk 1978; Maimone et al. 2017): the field of the picture
              with phase 0 at -d, a checkerboard of phase +- arccos(amplitude / largest). No Fourier filter after it.
  lbfgs4      The L-BFGS of holotone optimize in plain torch: loss on four half-pixel positions, 8 pairs, Armijo step,
              gradient in closed form. `autograd`: the same with torch's derivative. `samples`: loss at the samples.

All iterative methods start from the same phase, uniform in -0.5 to 0.5 rad by seed. Times are of CUDA events around the
steps and the rounding, the best of --rounds after one of few steps to warm up. Left out: reading, targets, transfer
functions, start, FFT plans, first allocations, and the measure. On a CPU it is the wall clock.
"""
import argparse
import collections
import json
import math
import sys
import time

import numpy
import torch

PITCH_M, WAVELENGTH_M, DISTANCE_M = 6.4e-6, 520e-9, 0.2
HALF_PIXELS = ((0, 0), (0, 0.5), (0.5, 0), (0.5, 0.5))
LEVELS = 256
TURN = 2 * math.pi


def read_amplitude(path):
    """Amplitude {ny, nx}, float64: an .npy as it is, a picture's green light."""
    if path.endswith(".npy"):
        return numpy.load(path).astype(numpy.float64)
    try:
        from PIL import Image
        codes = numpy.asarray(Image.open(path).convert("RGB"))[..., 1]
    except ImportError:
        import torchvision
        codes = torchvision.io.read_image(path, torchvision.io.ImageReadMode.RGB)[1].numpy()
    codes = codes.astype(numpy.float64) / 255
    return numpy.sqrt(numpy.where(codes <= 0.04045, codes / 12.92, ((codes + 0.055) / 1.055) ** 2.4))


def at_half_pixels(amplitude):
    """The amplitude at HALF_PIXELS, {4, ny, nx} float64: its cosine series, 0 where negative."""
    ny, nx = amplitude.shape
    mirrored = numpy.fft.fft2(numpy.pad(amplitude, ((0, ny), (0, nx)), mode="symmetric"))

    def factors(length, pixels):
        k = numpy.fft.fftfreq(length, 1 / length)
        waves = numpy.exp(2j * math.pi * k * pixels / length)
        waves[length // 2] = waves[length // 2].real  # both signs of the highest frequency
        return waves

    moved = [amplitude]
    for down, right in HALF_PIXELS[1:]:
        shift = factors(2 * ny, down)[:, None] * factors(2 * nx, right)[None]
        moved.append(numpy.fft.ifft2(mirrored * shift).real[:ny, :nx].clip(min=0))
    return numpy.stack(moved)


class Bench:
    """Light and targets of one region on a device."""

    def __init__(self, amplitude, targets, region, device):
        self.device = device
        self.ny, self.nx = amplitude.shape
        row, column, rows, columns = region
        self.region = (slice(row, row + rows), slice(column, column + columns))
        self.targets = [torch.tensor(t[self.region], dtype=torch.float32, device=device) for t in targets]
        self.whole = torch.tensor(amplitude, dtype=torch.float32, device=device)
        self.peak = float(self.targets[0].max())
        # float64 on the host: the phase is about 4e5 turns.
        fy = numpy.fft.fftfreq(2 * self.ny, PITCH_M)[:, None]
        fx = numpy.fft.fftfreq(2 * self.nx, PITCH_M)[None]
        rest = 1 / WAVELENGTH_M ** 2 - fx ** 2 - fy ** 2
        limits = [(2 * DISTANCE_M / (2 * n * PITCH_M)) ** 2 for n in (self.ny, self.nx)]
        kept = (rest > 0) & (rest >= limits[0] * fy ** 2) & (rest >= limits[1] * fx ** 2)
        turns = numpy.remainder(DISTANCE_M * numpy.sqrt(rest.clip(min=0)), 1)
        self.transfers = []
        for down, right in HALF_PIXELS:
            phase = turns + PITCH_M * (fy * down + fx * right)
            light = numpy.where(kept, numpy.exp(2j * math.pi * phase), 0)
            self.transfers.append(torch.tensor(light.astype(numpy.complex64), device=device))

    def spectrum(self, field):
        return torch.fft.fft2(field, s=(2 * self.ny, 2 * self.nx))

    def light(self, spectrum, position):
        """Light on the whole panel's pixels at a position."""
        return torch.fft.ifft2(spectrum * self.transfers[position])[:self.ny, :self.nx]

    def quality(self, phase):
        """(PSNR at the samples, worst PSNR, efficiency) of a phase as it is."""
        spectrum = self.spectrum(torch.polar(torch.ones_like(phase), phase))
        levels, efficiency = [], 0
        for position, target in enumerate(self.targets):
            seen = self.light(spectrum, position)[self.region].abs().double()
            goal = target.double()
            energy = float((seen * seen).sum())
            scale = float((seen * goal).sum()) / energy
            error = float(((scale * seen - goal) ** 2).mean())
            levels.append(10 * math.log10(self.peak ** 2 / max(error, 1e-30)))
            if position == 0:
                efficiency = energy / (self.ny * self.nx)
        return levels[0], min(levels), efficiency

    def loss_and_gradient(self, phase, positions):
        """Half the sum of (s a - T)^2, s the best scale of all positions together, and its derivative."""
        u = torch.polar(torch.ones_like(phase), phase)
        spectrum = self.spectrum(u)
        seen = [self.light(spectrum, p)[self.region] for p in positions]
        amplitudes = [r.abs().clamp(min=1e-6) for r in seen]
        goals = [self.targets[p] for p in positions]
        scale = sum((a * t).sum() for a, t in zip(amplitudes, goals)) / sum((a * a).sum() for a in amplitudes)
        loss, back = 0, torch.zeros_like(spectrum)
        for p, r, a, t in zip(positions, seen, amplitudes, goals):
            error = scale * a - t
            loss = loss + 0.5 * (error * error).sum()
            padded = torch.zeros_like(spectrum)
            padded[:self.ny, :self.nx][self.region] = scale * error / a * r
            back += torch.fft.fft2(padded) * self.transfers[p].conj()
        return loss, (u.conj() * torch.fft.ifft2(back)[:self.ny, :self.nx]).imag

    def loss_and_autograd(self, phase, positions):
        """The same by torch's derivative; by the best scale's own condition its dependence adds nothing."""
        phase = phase.detach().requires_grad_()
        spectrum = self.spectrum(torch.polar(torch.ones_like(phase), phase))
        seen = [self.light(spectrum, p)[self.region].abs() for p in positions]
        goals = [self.targets[p] for p in positions]
        with torch.no_grad():
            scale = sum((a * t).sum() for a, t in zip(seen, goals)) / sum((a * a).sum() for a in seen)
        loss = sum(0.5 * ((scale * a - t) ** 2).sum() for a, t in zip(seen, goals))
        return loss.detach(), torch.autograd.grad(loss, phase)[0]


def lbfgs(bench, phase, steps, positions=(0, 1, 2, 3), derivative=None):
    """Liu and Nocedal's two loops, 8 pairs; a step is halved until the loss falls enough (Armijo 1966)."""
    derivative = derivative or bench.loss_and_gradient
    pairs = collections.deque(maxlen=8)
    loss, slope = derivative(phase, positions)
    for _ in range(steps):
        direction, factors = slope.clone(), []
        for step, change, curvature in reversed(pairs):
            factors.append((step * direction).sum() / curvature)
            direction -= factors[-1] * change
        if pairs:
            step, change, curvature = pairs[-1]
            direction *= curvature / (change * change).sum()
        else:
            direction *= 0.1 / slope.square().mean().sqrt()
        for (step, change, curvature), factor in zip(pairs, reversed(factors)):
            direction += (factor - (change * direction).sum() / curvature) * step
        promised, length = (slope * direction).sum(), 1.0
        while True:
            moved = phase - length * direction
            next_loss, next_slope = derivative(moved, positions)
            if bool(next_loss <= loss - 1e-4 * length * promised) or length < 1e-3:
                break
            length /= 2
        step, change = moved - phase, next_slope - slope
        curvature = (step * change).sum()
        if bool(curvature > 0):
            pairs.append((step, change, curvature))
        phase, loss, slope = moved, next_loss, next_slope
    return phase


def adam(bench, phase, steps, learned):
    """Adam at rate 8e-3 on the mean squared error at the samples; the scale learned at 2e-3, or in closed form."""
    target = bench.targets[0]
    phase = phase.clone().requires_grad_()
    groups = [{"params": [phase], "lr": 8e-3}]
    if learned:
        with torch.no_grad():
            seen = bench.light(bench.spectrum(torch.polar(torch.ones_like(phase), phase)), 0)[bench.region].abs()
            scale = (target.mean() / seen.mean()).requires_grad_()
        groups.append({"params": [scale], "lr": 2e-3})
    optimizer = torch.optim.Adam(groups)
    for _ in range(steps):
        optimizer.zero_grad()
        seen = bench.light(bench.spectrum(torch.polar(torch.ones_like(phase), phase)), 0)[bench.region].abs()
        if not learned:
            with torch.no_grad():
                scale = (seen * target).sum() / (seen * seen).sum()
        torch.nn.functional.mse_loss(scale * seen, target).backward()
        optimizer.step()
    return phase.detach()


def gerchberg_saxton(bench, phase, steps, free):
    """The amplitude in the region becomes the scaled target; the panel keeps the phase of the light sent back."""
    target = bench.targets[0]
    for _ in range(steps):
        light = bench.light(bench.spectrum(torch.polar(torch.ones_like(phase), phase)), 0)
        seen = light[bench.region]
        amplitude = seen.abs().clamp(min=1e-6)
        gain = (amplitude * amplitude).sum() / (amplitude * target).sum()
        wanted = light.clone() if free else torch.zeros_like(light)
        wanted[bench.region] = gain * target / amplitude * seen
        back = torch.fft.ifft2(bench.spectrum(wanted) * bench.transfers[0].conj())[:bench.ny, :bench.nx]
        phase = back.angle()
    return phase


def double_phase(bench):
    """Checkerboard of the two phases whose mean is the picture's field, carried back to the panel."""
    picture = bench.whole.to(torch.complex64)
    field = torch.fft.ifft2(bench.spectrum(picture) * bench.transfers[0].conj())[:bench.ny, :bench.nx]
    modulus = field.abs()
    spread = torch.arccos((modulus / modulus.max()).clamp(max=1))
    odd = (torch.arange(bench.ny, device=bench.device)[:, None] + torch.arange(bench.nx, device=bench.device)[None]) % 2
    return field.angle() + spread * (1 - 2 * odd)


def rounded(phase):
    return torch.remainder(torch.round(phase * (LEVELS / TURN)), LEVELS) * (TURN / LEVELS)


def milliseconds(device, work):
    """(milliseconds, result) of work()."""
    if device.type != "cuda":
        start = time.perf_counter()
        result = work()
        return 1e3 * (time.perf_counter() - start), result
    torch.cuda.synchronize(device)
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    result = work()
    last.record()
    last.synchronize()
    return first.elapsed_time(last), result


def methods(short):
    """(name, steps, function of bench, start and steps)."""
    lbfgs_steps = (5,) if short else (10, 20, 23, 50, 56, 100)
    adam_steps = (20,) if short else (200, 500, 1000)
    rows = [("dpac", 0, lambda bench, start, steps: double_phase(bench))]
    for steps in (10,) if short else (50, 200):
        rows.append(("gs free", steps, lambda bench, start, steps: gerchberg_saxton(bench, start, steps, True)))
        rows.append(("gs zero", steps, lambda bench, start, steps: gerchberg_saxton(bench, start, steps, False)))
    for steps in adam_steps:
        rows.append(("adam closed", steps, lambda bench, start, steps: adam(bench, start, steps, False)))
        rows.append(("adam learned", steps, lambda bench, start, steps: adam(bench, start, steps, True)))
    for steps in lbfgs_steps:
        rows.append(("lbfgs4", steps, lbfgs))
    steps = lbfgs_steps[0] if short else 20
    rows.append(("lbfgs4 autograd", steps,
                 lambda bench, start, steps: lbfgs(bench, start, steps, derivative=bench.loss_and_autograd)))
    rows.append(("lbfgs samples", steps, lambda bench, start, steps: lbfgs(bench, start, steps, (0,))))
    return rows


def check_gradient(bench, start):
    """Largest difference of the two derivatives, relative to the largest value."""
    positions = range(len(HALF_PIXELS))
    derived, other = bench.loss_and_gradient(start, positions)[1], bench.loss_and_autograd(start, positions)[1]
    return float((derived - other).abs().max() / derived.abs().max())


def table(rows):
    lines = [f"{'region':<8}{'method':<17}{'steps':>6}{'ms':>10}{'worst dB':>10}{'samples dB':>12}{'efficiency':>12}"]
    for row in rows:
        lines.append(f"{row['region']:<8}{row['method']:<17}{row['steps']:>6}{row['ms']:>10.2f}"
                     f"{row['psnr_worst']:>10.2f}{row['psnr_samples']:>12.2f}{row['efficiency']:>12.3f}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", help="PNG whose green light is the target, or NPY of its amplitude")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", type=int, nargs="?", const=256, help="only the middle, of N x N pixels; few steps")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=50, help="start no further row after this time (default 50)")
    parser.add_argument("--json", help="file for the rows")
    arguments = parser.parse_args()
    began = time.perf_counter()
    device = torch.device(arguments.device)
    amplitude = read_amplitude(arguments.picture)
    if arguments.small:
        row, column = ((n - arguments.small) // 2 for n in amplitude.shape)
        amplitude = amplitude[row:row + arguments.small, column:column + arguments.small]
    ny, nx = amplitude.shape
    top, left = 100 * ny // 1080, nx // 12
    targets = at_half_pixels(amplitude)
    regions = {"region": (top, left, ny - 2 * top, nx - 2 * left), "whole": (0, 0, ny, nx)}
    generator = torch.Generator().manual_seed(0)
    start = (torch.rand(ny, nx, generator=generator) - 0.5).to(device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    print(f"torch {torch.__version__}, {name}, {nx} x {ny} pixels, region {regions['region'][3]} x "
          f"{regions['region'][2]}; ms without set-up, warmed up, best of {arguments.rounds}")
    benches = {region: Bench(amplitude, targets, place, device) for region, place in regions.items()}
    difference = check_gradient(benches["region"], start)
    print(f"derivative in closed form against torch's: {difference:.1e} of the largest")
    if not difference < 1e-3:
        sys.exit("retrieval_torch.py: the two derivatives differ")
    rows, skipped = [], 0
    for region, bench in benches.items():
        for method, steps, run in methods(bool(arguments.small)):
            if time.perf_counter() - began > arguments.seconds:
                skipped += 1
                continue
            run(bench, start, min(steps, 3))
            best = math.inf
            for _ in range(arguments.rounds if steps <= 200 else 1):
                taken, phase = milliseconds(device, lambda: rounded(run(bench, start, steps)))
                best = min(best, taken)
            samples, worst, efficiency = bench.quality(phase)
            rows.append({"region": region, "method": method, "steps": steps, "ms": best, "psnr_worst": worst,
                         "psnr_samples": samples, "efficiency": efficiency})
    print("\n".join(table(rows)))
    if skipped:
        print(f"{skipped} rows not run: {arguments.seconds:g} s were over")
    print(f"{time.perf_counter() - began:.0f} s in all")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"torch": torch.__version__, "device": name, "pixels": [nx, ny], "region": regions["region"],
                       "skipped": skipped, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
