#!/bin/bash
# Installs the Debian or Ubuntu packages that are missing: install_dependencies.sh [--develop | --python | --page]
# --python adds what the Python package is built with, --page the browser in which the page of `holotone view` is tested.
# --develop adds what HACKING.md's presets and checks use (clang, clang-tidy, clang-format, libomp, ccache, and for the
# tests on OpenCL PoCL and Oclgrind, for those of the panel's window two X servers without a screen).
# Without root, sudo or a network it lists what it could not install and continues: CMake then says what is
# really needed, since a library may come from elsewhere, and TIFF, lcms2, OpenEXR, HDF5, matio, assimp and OpenCL are optional.
set -u

# A tool counts as present when it runs, whoever installed it.
tools=(g++:g++ cmake:cmake ninja:ninja-build pkg-config:pkg-config)
packages=(libfftw3-dev libopenblas-openmp-dev libpng-dev libjpeg-dev libtiff-dev liblcms2-dev libopenexr-dev libhdf5-dev
          libmatio-dev libassimp-dev libcli11-dev nlohmann-json3-dev libfmt-dev libgtest-dev libbenchmark-dev
          opencl-clhpp-headers libvkfft-dev libglfw3-dev libgl-dev libegl-dev libboost-dev)
if [ "${1:-}" = --develop ]; then
  tools+=(clang++:clang clang-tidy:clang-tidy clang-format:clang-format ccache:ccache git:git)
  packages+=(libomp-dev libkissfft-dev ocl-icd-libopencl1 pocl-opencl-icd oclgrind
             libopenmpi-dev openmpi-bin libglfw3 libegl1 libgl1-mesa-dri xvfb xserver-xorg-core xserver-xorg-video-dummy x11-xserver-utils)
fi
if [ "${1:-}" = --python ]; then
  python3 -c 'import ensurepip, pathlib, sysconfig; pathlib.Path(sysconfig.get_path("include"), "Python.h").stat()' \
    2>/dev/null || packages+=(python3-dev python3-venv)
fi
if [ "${1:-}" = --page ]; then
  tools+=(chromium:chromium)
  packages+=(python3-venv)
fi

missing=()
for entry in "${tools[@]}"; do
  command -v "${entry%%:*}" >/dev/null || missing+=("${entry##*:}")
done
if command -v dpkg-query >/dev/null; then
  for package in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
else
  echo "install_dependencies: not a Debian or Ubuntu system: the libraries are yours to install:" >&2
  echo "    FFTW (float, OpenMP), OpenBLAS, libpng, libjpeg, fmt, CLI11, nlohmann-json, GoogleTest; TIFF, lcms2, OpenEXR, HDF5, matio, assimp, Google Benchmark if you like" >&2
fi
[ ${#missing[@]} -eq 0 ] && exit 0

echo "install_dependencies: missing: ${missing[*]}"
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=1 -o Acquire::http::Timeout=20 \
    -o APT::Update::Error-Mode=any "$@" </dev/null >/dev/null 2>&1
}
if command -v apt-get >/dev/null && { [ ${#as_root[@]} -eq 0 ] || { command -v sudo >/dev/null && sudo true; }; }; then
  apt update && reached=yes
  apt install -y --no-install-recommends "${missing[@]}" && exit 0
  if [ "${reached:-}" ]; then
    # One package that this system does not have must not keep the others away.
    failed=()
    for package in "${missing[@]}"; do
      apt install -y --no-install-recommends "$package" || failed+=("$package")
    done
    missing=("${failed[@]}")
    [ ${#missing[@]} -eq 0 ] && exit 0
  fi
fi
echo "install_dependencies: could not install them here. If the build stops for want of one, run:" >&2
echo "    sudo apt-get update && sudo apt-get install -y ${missing[*]}" >&2
exit 0
