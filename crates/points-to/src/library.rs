//! Pointer summaries of functions of the C and C++ libraries, of POSIX and of OpenMP's runtime.

/// What functions of the C library do with pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Returns new memory.
    Allocates,
    /// Returns new memory with the content of the first argument, or that.
    Reallocates,
    /// Stores new memory through the first argument.
    AllocatesInto,
    /// Copies memory from the second argument to the first.
    Copies,
    /// Returns this argument, or a place in it, and keeps none.
    ReturnsPlaceIn(usize),
    /// Stores a place in its first argument through the second.
    FindsEnd,
    /// Moves the elements of its first argument, which it passes to the function that is the
    /// fourth.
    Sorts,
    /// Returns an element of its second argument, which it passes, after the first, to the function
    /// that is the fifth.
    Searches,
    /// Keeps none of its arguments and returns no pointer to what it was given.
    Forgets,
    /// Returns a node of a list or tree of libstdc++ that is linked with the first argument; its
    /// links are at these bytes.
    WalksNodes(&'static [i64]),
    /// Works on the string that is its first argument, which has its text in memory of its own or
    /// in itself, and may return a place in it.
    ChangesString,
    /// Links the nodes that the arguments point to with each other, and may return one.
    LinksNodes(&'static [i64]),
}

/// Parent, left and right of `_Rb_tree_node_base`.
const TREE: &[i64] = &[8, 16, 24];
/// Next and previous of `_List_node_base`.
const LIST: &[i64] = &[0, 8];

impl Library {
    /// Of a function of this name, if it is one of these.
    pub fn of(name: &str) -> Option<Library> {
        Some(match plain(name) {
            "malloc"
            | "calloc"
            | "aligned_alloc"
            | "memalign"
            | "valloc"
            | "mmap"
            | "strdup"
            | "strndup"
            | "omp_alloc"
            | "omp_calloc"
            | "_Znwm"
            | "_Znam"
            | "_ZnwmSt11align_val_t"
            | "_ZnamSt11align_val_t"
            | "_ZnwmRKSt9nothrow_t"
            | "_ZnamRKSt9nothrow_t"
            | "__cxa_allocate_exception" => Library::Allocates,
            // Of the library's own: streams, and text that nothing of the program's is in.
            "fopen" | "fopen64" | "fdopen" | "freopen" | "popen" | "tmpfile" | "opendir"
            | "readdir" | "getenv" | "strerror" | "ctime" | "asctime" | "localtime" | "gmtime"
            | "setlocale" => Library::Allocates,
            "realloc" | "reallocarray" => Library::Reallocates,
            "posix_memalign" | "getline" | "getdelim" | "asprintf" | "vasprintf" => {
                Library::AllocatesInto
            }
            "memcpy" | "memmove" | "mempcpy" | "__memcpy_chk" | "__memmove_chk" => Library::Copies,
            "strcpy" | "strncpy" | "stpcpy" | "strcat" | "strncat" | "strchr" | "strrchr"
            | "strchrnul" | "strstr" | "strcasestr" | "strpbrk" | "index" | "rindex" | "memset"
            | "memchr" | "memrchr" | "fgets" | "getcwd" | "basename" | "dirname" | "mkdtemp"
            | "__memset_chk" | "__strcpy_chk" | "__strncpy_chk" | "__strcat_chk"
            | "__strncat_chk" | "__fgets_chk" => Library::ReturnsPlaceIn(0),
            "localtime_r" | "gmtime_r" | "ctime_r" => Library::ReturnsPlaceIn(1),
            "strtol" | "strtoll" | "strtoul" | "strtoull" | "strtod" | "strtof" | "strtold"
            | "strtoimax" | "strtoumax" => Library::FindsEnd,
            "qsort" => Library::Sorts,
            "bsearch" => Library::Searches,
            _ if forgets(name) => Library::Forgets,
            "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base"
            | "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base"
            | "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base"
            | "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base" => Library::WalksNodes(TREE),
            "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_"
            | "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_" => {
                Library::LinksNodes(TREE)
            }
            _ if name.starts_with("_ZNSt8__detail15_List_node_base") => Library::LinksNodes(LIST),
            // The end of an object that a thread runs, and waiting for the thread.
            "_ZNSt6thread6_StateD0Ev"
            | "_ZNSt6thread6_StateD1Ev"
            | "_ZNSt6thread6_StateD2Ev"
            | "_ZNSt6thread4joinEv"
            | "_ZNSt6thread6detachEv" => Library::Forgets,
            _ if name.contains("20_Prime_rehash_policy")
                || name.starts_with("_ZSt11_Hash_bytes")
                || is_allocator(name)
                || name.starts_with("_ZNSt8ios_base4Init") =>
            {
                Library::Forgets
            }
            _ if name.starts_with("_ZNSt7__cxx1112basic_string")
                || name.starts_with("_ZNKSt7__cxx1112basic_string")
                || name.starts_with("_ZNKSt7__cxx1119basic_ostringstream")
                    && name.ends_with("3strEv") =>
            {
                Library::ChangesString
            }
            _ if moves_text(name) => Library::ReturnsPlaceIn(0),
            _ if name.starts_with("_FortranA") || name.starts_with("llvm.") => Library::Forgets,
            _ => return None,
        })
    }
}

/// Whether a function keeps none of its arguments and returns no pointer to what it was given.
fn forgets(name: &str) -> bool {
    // Locks and questions; devices have memory of their own.
    let of_openmp =
        name.starts_with("omp_") && !name.contains("target") && !name.contains("mapped");
    of_openmp || FORGETS.contains(&plain(name))
}

/// Functions that do so: C 2018 §7, POSIX.1-2017, by header.
const FORGETS: &[&str] = &[
    // stdio.h.
    "printf",
    "fprintf",
    "sprintf",
    "snprintf",
    "vprintf",
    "vfprintf",
    "vsprintf",
    "vsnprintf",
    "dprintf",
    "__printf_chk",
    "__fprintf_chk",
    "__sprintf_chk",
    "__snprintf_chk",
    "__vfprintf_chk",
    "__vsnprintf_chk",
    "puts",
    "fputs",
    "fputc",
    "putc",
    "putchar",
    "perror",
    "scanf",
    "fscanf",
    "sscanf",
    "vsscanf",
    "getc",
    "fgetc",
    "getchar",
    "ungetc",
    "fread",
    "fwrite",
    "__fread_chk",
    "fflush",
    "fclose",
    "pclose",
    "fseek",
    "fseeko",
    "ftell",
    "ftello",
    "rewind",
    "fgetpos",
    "fsetpos",
    "feof",
    "ferror",
    "clearerr",
    "fileno",
    "remove",
    "rename",
    // stdlib.h.
    "free",
    "cfree",
    "exit",
    "_exit",
    "abort",
    "atoi",
    "atol",
    "atoll",
    "atof",
    "system",
    "setenv",
    "unsetenv",
    "mkstemp",
    "rand_r",
    "srand",
    "srand48",
    "drand48_r",
    "random_r",
    // string.h, strings.h, ctype.h.
    "strlen",
    "strnlen",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "strcoll",
    "strspn",
    "strcspn",
    "memcmp",
    "bcmp",
    "bzero",
    "explicit_bzero",
    "__ctype_b_loc",
    "__errno_location",
    // math.h: those that store a result.
    "frexp",
    "frexpf",
    "frexpl",
    "modf",
    "modff",
    "modfl",
    "remquo",
    "remquof",
    "sincos",
    "sincosf",
    "sincosl",
    "lgamma_r",
    "nan",
    // time.h, sys/time.h.
    "time",
    "clock",
    "gettimeofday",
    "clock_gettime",
    "clock_getres",
    "nanosleep",
    "clock_nanosleep",
    "usleep",
    "sleep",
    "mktime",
    "timegm",
    "difftime",
    "strftime",
    "times",
    "getrusage",
    "getitimer",
    // unistd.h, fcntl.h, sys.
    "open",
    "open64",
    "openat",
    "creat",
    "close",
    "read",
    "write",
    "pread",
    "pread64",
    "pwrite",
    "pwrite64",
    "lseek",
    "lseek64",
    "access",
    "stat",
    "stat64",
    "lstat",
    "lstat64",
    "fstat",
    "fstat64",
    "mkdir",
    "rmdir",
    "unlink",
    "chdir",
    "chmod",
    "truncate",
    "ftruncate",
    "fsync",
    "isatty",
    "closedir",
    "shm_open",
    "shm_unlink",
    "munmap",
    "madvise",
    "mlock",
    "munlock",
    "msync",
    "gethostname",
    "getdomainname",
    "sysconf",
    "getloadavg",
    "uname",
    "sched_getaffinity",
    "sched_setaffinity",
    // pthread.h, semaphore.h.
    "pthread_join",
    "pthread_detach",
    "pthread_mutex_init",
    "pthread_mutex_destroy",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_spin_init",
    "pthread_spin_destroy",
    "pthread_spin_lock",
    "pthread_spin_trylock",
    "pthread_spin_unlock",
    "pthread_rwlock_init",
    "pthread_rwlock_destroy",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_unlock",
    "pthread_cond_init",
    "pthread_cond_destroy",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_barrier_init",
    "pthread_barrier_destroy",
    "pthread_barrier_wait",
    "pthread_attr_init",
    "pthread_attr_destroy",
    "sem_init",
    "sem_destroy",
    "sem_wait",
    "sem_trywait",
    "sem_post",
    "sem_getvalue",
    // The C++ runtime.
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "__assert_fail",
];

/// Whether this begins or ends an allocator of C++, which is empty, but may be the begin of a
/// string.
fn is_allocator(name: &str) -> bool {
    let is_one = |kind| name.contains(kind);
    name.starts_with("_ZNSaI") && ["EC1E", "EC2E", "ED1E", "ED2E"].into_iter().any(is_one)
}

/// Whether a function writes to, or reads from, a stream of C++, and returns the stream. Those that
/// are given a function, or another stream's buffer, may do more.
fn moves_text(name: &str) -> bool {
    const BEGINS: [&str; 5] = ["_ZNSo", "_ZNSi", "_ZStls", "_ZStrs", "_ZSt16__ostream_insert"];
    BEGINS.iter().any(|begin| name.starts_with(begin))
        && !name.contains("EPF")
        && !name.contains("streambuf")
}

/// The name that the standard has for a function of the C library: glibc's headers give some of
/// them others.
pub fn plain(name: &str) -> &str {
    const OTHERS: [&str; 2] = ["__isoc99_", "__isoc23_"];
    OTHERS.iter().find_map(|with| name.strip_prefix(with)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocators_keep_nothing_and_strings_change() {
        for name in ["_ZNSaIcEC1Ev", "_ZNSaIcEC2ERKS_", "_ZNSaIcED1Ev", "_ZNSaIcED2Ev"] {
            assert_eq!(Library::of(name), Some(Library::Forgets), "{name}");
        }
        let assigns = "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_assignERKS4_";
        assert_eq!(Library::of(assigns), Some(Library::ChangesString));
    }
}
