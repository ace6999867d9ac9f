# Tests of a project that start jobs of their own, and one that is a job itself under mpirun.
import os
import subprocess
import sys

import pytest

SCRIPT = os.path.join(os.path.dirname(__file__), "halo.py")


@pytest.mark.parametrize("way", ["right", "early"])
def test_job(way):
    launcher = os.environ["LAUNCHER"].split()
    subprocess.run([*launcher, "-n", "2", sys.executable, SCRIPT, way], check=True)
