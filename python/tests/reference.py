"""References in float64: NumPy alone, written from docs/ and the headers' formulas."""

from __future__ import annotations

import numpy as np


def pixels(shape, pitch):
    """x {1, nx} and y {ny, 1} of the pixels' centres (docs/conventions.md)."""
    ny, nx = shape
    return ((np.arange(nx) - (nx - 1) / 2) * pitch)[None, :], (((ny - 1) / 2 - np.arange(ny)) * pitch)[:, None]


def point_waves(position, shape, pitch, wavelength, wave="fresnel", band_limit=True):
    """Wave {n, ny, nx} of each point of amplitude 1."""
    x, y = pixels(shape, pitch)
    px, py, d = (np.asarray(position, "float64")[:, i, None, None] * (1, 1, -1)[i] for i in range(3))
    square = (x - px) ** 2 + (y - py) ** 2
    if wave == "fresnel":
        waves = np.exp(1j * np.pi * square / (wavelength * d))
    else:
        # r - |d| without cancellation
        waves = np.exp(2j * np.pi / wavelength * np.sign(d) * square / (np.sqrt(square + d * d) + np.abs(d)))
    if band_limit:
        reach = wavelength * np.abs(d) / (2 * pitch)
        waves = waves * ((np.abs(x - px) <= reach) & (np.abs(y - py) <= reach))
    return waves


def point_field(position, amplitude, phase, shape, pitch, wavelength, **options):
    light = np.asarray(amplitude, "float64") * np.exp(1j * np.asarray(phase, "float64"))
    return np.tensordot(light, point_waves(position, shape, pitch, wavelength, **options), 1)


def padded_length(n):
    """Smallest even number >= 2 n without prime factors above 7."""
    length = 2 * n
    while True:
        rest = length
        for prime in (2, 3, 5, 7):
            while rest % prime == 0:
                rest //= prime
        if rest == 1 and length % 2 == 0:
            return length
        length += 1


def angular_spectrum(field, distance, pitch, wavelength, band_limit=True, zero_pad=True):
    ny, nx = field.shape
    ly, lx = (padded_length(ny), padded_length(nx)) if zero_pad else (ny, nx)
    fx, fy = np.fft.fftfreq(lx, pitch)[None, :], np.fft.fftfreq(ly, pitch)[:, None]
    square = fx**2 + fy**2
    w = np.sqrt(np.maximum(wavelength**-2 - square, 0))
    kept = square < wavelength**-2
    if band_limit:
        for f, length in ((fx, lx), (fy, ly)):
            kept = kept & (square + (2 * distance / (length * pitch)) ** 2 * f**2 <= wavelength**-2)
    transfer = np.where(kept, np.exp(2j * np.pi * distance * w), 0)
    return np.fft.ifft2(transfer * np.fft.fft2(field.astype("complex128"), (ly, lx)))[:ny, :nx]


def fresnel(field, distance, pitch, wavelength):
    """The sum of Goodman's Eq. (4-17), dark beyond the diffraction angle."""
    def chirps(n):
        x = (np.arange(n) - (n - 1) / 2) * pitch
        lit = np.abs(x) <= wavelength * abs(distance) / (2 * pitch)
        return np.exp(1j * np.pi * (x[:, None] - x[None, :]) ** 2 / (wavelength * distance)) * lit[:, None]

    ny, nx = field.shape
    factor = np.exp(2j * np.pi * distance / wavelength) / (1j * wavelength * distance) * pitch**2
    return factor * (chirps(ny) @ field.astype("complex128") @ chirps(nx).T)


def mode_waves(points, modes):
    """exp(-2 pi i k.x_j) {n, modes}; component 0 of a point belongs to the last axis."""
    waves = np.ones((len(points), *modes), "complex128")
    for axis, n in enumerate(modes):
        k = np.arange(-(n // 2), n - n // 2).reshape([-1 if i == axis else 1 for i in range(len(modes))])
        x = points[:, len(modes) - 1 - axis].astype("float64").reshape(-1, *[1] * len(modes))
        waves = waves * np.exp(-2j * np.pi * k * x)
    return waves


def mixture(log_weight, centre, covariance, colour, slope, size):
    """Colours {ny, nx, channels} of a mixture of experts in two dimensions over a box of its own pixels."""
    x, y = np.meshgrid(np.arange(size[1]) + 0.5, np.arange(size[0]) + 0.5)
    offset = np.stack([x, y], -1)[:, :, None, :] - centre  # {ny, nx, K, 2}
    a, b, c = covariance.T
    determinant = a * c - b * b
    u, v = offset[..., 0], offset[..., 1]
    distance = (c * u * u - 2 * b * u * v + a * v * v) / determinant
    logarithm = log_weight - 0.5 * np.log(determinant) - 0.5 * distance
    share = np.exp(logarithm - logarithm.max(-1, keepdims=True))
    share /= share.sum(-1, keepdims=True)
    expert = colour + np.einsum("kcd,yxkd->yxkc", slope, offset)
    return np.einsum("yxk,yxkc->yxc", share, expert)


def psnr(found, wanted, peak=1.0):
    return 10 * np.log10(peak**2 / np.mean((np.asarray(found, "float64") - wanted) ** 2))
