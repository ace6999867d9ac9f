-- Lmod. Finds commsan from where this file lies: PREFIX/share/modulefiles/commsan/VERSION.lua
help([[commsan: correctness checker and communication profiler for MPI, OpenMP and CUDA programs.
commsan run -- mpirun -n 4 ./app]])
whatis("Name: commsan")
whatis("Version: " .. myModuleVersion())
whatis("Description: correctness checker and communication profiler for HPC programs")

local prefix = pathJoin(myFileName():match("(.*)/"), "..", "..", "..")
conflict("commsan")
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share", "man") .. ":")
prepend_path("CPATH", pathJoin(prefix, "include"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
