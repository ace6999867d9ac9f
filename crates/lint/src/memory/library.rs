//! Functions of the C library.

/// What functions of the C library do with pointers.
pub enum Library {
    /// Returns new memory.
    Allocates,
    /// Returns new memory with the content of the first argument, or that.
    Reallocates,
    /// Stores new memory through the first argument.
    AllocatesInto,
    /// Copies memory from the second argument to the first.
    Copies,
    /// Returns its first argument, or a place in it, and keeps none.
    ReturnsFirst,
    /// Keeps none of its arguments and returns no pointer to what it was given.
    Forgets,
}

impl Library {
    /// Of a function of this name, if it is one of these.
    pub fn of(name: &str) -> Option<Library> {
        Some(match name {
            "malloc"
            | "calloc"
            | "aligned_alloc"
            | "memalign"
            | "valloc"
            | "mmap"
            | "strdup"
            | "_Znwm"
            | "_Znam"
            | "_ZnwmSt11align_val_t"
            | "_ZnamSt11align_val_t"
            | "_ZnwmRKSt9nothrow_t"
            | "_ZnamRKSt9nothrow_t"
            | "__cxa_allocate_exception" => Library::Allocates,
            "realloc" | "reallocarray" => Library::Reallocates,
            "posix_memalign" => Library::AllocatesInto,
            "memcpy" | "memmove" | "mempcpy" | "__memcpy_chk" | "__memmove_chk" => Library::Copies,
            "strcpy" | "strncpy" | "strcat" | "strchr" | "strrchr" | "strstr" | "memset"
            | "memchr" | "fgets" | "bsearch" => Library::ReturnsFirst,
            "free"
            | "cfree"
            | "munmap"
            | "printf"
            | "fprintf"
            | "snprintf"
            | "sprintf"
            | "puts"
            | "fputs"
            | "fputc"
            | "putchar"
            | "fflush"
            | "fclose"
            | "exit"
            | "abort"
            | "atoi"
            | "atof"
            | "atol"
            | "strtol"
            | "strtod"
            | "strlen"
            | "strcmp"
            | "strncmp"
            | "memcmp"
            | "fread"
            | "fwrite"
            | "fscanf"
            | "sscanf"
            | "scanf"
            | "perror"
            | "usleep"
            | "sleep"
            | "nanosleep"
            | "gettimeofday"
            | "clock_gettime"
            | "pthread_join"
            | "pthread_mutex_lock"
            | "pthread_mutex_unlock"
            | "pthread_barrier_wait"
            | "_ZdlPv"
            | "_ZdaPv"
            | "_ZdlPvm"
            | "_ZdaPvm" => Library::Forgets,
            _ if name.starts_with("_FortranA") || name.starts_with("llvm.") => Library::Forgets,
            _ => return None,
        })
    }
}
