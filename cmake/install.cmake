# install, and the package that find_package(holotone) reads
