#%Module1.0
# Environment Modules. Finds commsan from where this file lies: PREFIX/share/modulefiles/commsan/VERSION
set prefix [file normalize [file join [file dirname $ModulesCurrentModulefile] .. .. ..]]

proc ModulesHelp {} {
    puts stderr "commsan: correctness checker and communication profiler for MPI, OpenMP and CUDA programs."
    puts stderr "commsan run -- mpirun -n 4 ./app"
}
module-whatis "correctness checker and communication profiler for HPC programs"

conflict commsan
prepend-path PATH $prefix/bin
prepend-path MANPATH $prefix/share/man:
prepend-path CPATH $prefix/include
prepend-path CMAKE_PREFIX_PATH $prefix
