# Spack: put this file into packages/commsan of a repository, and the tarball beside it. Untried.
from spack.package import *


class Commsan(Package):
    """Correctness checker and communication profiler for MPI, OpenMP and CUDA programs."""

    # Built by `make dist`; needs glibc 2.28 or newer and nothing else.
    url = f"file://{__file__.rsplit('/', 1)[0]}/commsan-@VERSION@-linux-x86_64.tar.xz"
    license("MIT OR Apache-2.0")

    version("@VERSION@", sha256="@SHA256@")

    requires("target=x86_64:", "platform=linux")

    def install(self, spec, prefix):
        install_tree(".", prefix)

    def setup_run_environment(self, env):
        env.prepend_path("CPATH", self.prefix.include)
