//! Mod/ref summaries of functions of the C and C++ libraries.

use commsan_ir::Value;
use commsan_points_to::library::plain;

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Nothing that is looked at.
    Nothing,
    /// Copies from the second argument to the first, as many bytes as the third says.
    Copies,
    /// Fills the first, as many bytes as the third says.
    Fills,
    /// Releases its first argument.
    Releases,
    /// Goes on in two processes: the new one, where it returns 0, has copies of all memory.
    Forks,
    /// May write where arguments point.
    WritesArguments,
    /// May do anything that others can.
    Anything,
}

impl Library {
    /// Of a function of this name.
    pub fn of(name: &str) -> Library {
        match plain(name) {
            "memcpy" | "memmove" | "mempcpy" | "__memcpy_chk" | "__memmove_chk" => Library::Copies,
            "memset" | "__memset_chk" => Library::Fills,
            "free" | "_ZdlPv" | "_ZdaPv" | "_ZdlPvm" | "_ZdaPvm" | "realloc" => Library::Releases,
            "fork" | "_Fork" | "vfork" => Library::Forks,
            "malloc"
            | "calloc"
            | "aligned_alloc"
            | "_Znwm"
            | "_Znam"
            | "printf"
            | "fprintf"
            | "puts"
            | "putchar"
            | "fputs"
            | "fputc"
            | "fflush"
            | "exit"
            | "abort"
            | "_exit"
            | "__assert_fail"
            | "strlen"
            | "strcmp"
            | "strncmp"
            | "memcmp"
            | "atoi"
            | "atof"
            | "atol"
            | "strtol"
            | "getenv"
            | "fopen"
            | "fdopen"
            | "fclose"
            | "fseek"
            | "ftell"
            | "rewind"
            | "feof"
            | "ferror"
            | "remove"
            | "rename"
            | "access"
            | "mkdir"
            | "unlink"
            | "strcasecmp"
            | "strncasecmp"
            | "usleep"
            | "sleep"
            | "perror"
            | "rand"
            | "srand"
            | "random"
            | "drand48"
            | "lrand48"
            | "time"
            | "clock"
            | "sqrt"
            | "sqrtf"
            | "sin"
            | "cos"
            | "tan"
            | "exp"
            | "log"
            | "pow"
            | "fabs"
            | "fabsf"
            | "floor"
            | "ceil"
            | "fmin"
            | "fmax"
            | "abs"
            | "labs"
            | "__gxx_personality_v0"
            | "__cxa_begin_catch"
            | "__cxa_end_catch"
            | "__cxa_throw"
            | "__cxa_allocate_exception"
            | "__cxa_atexit"
            | "_ZSt9terminatev"
            | "getpid"
            | "omp_get_thread_num"
            | "omp_get_num_threads"
            | "omp_get_max_threads"
            | "omp_get_wtime" => Library::Nothing,
            "snprintf" | "sprintf" | "vsnprintf" | "sscanf" | "scanf" | "fscanf" | "fread"
            | "fgets" | "getline" | "gettimeofday" | "clock_gettime" | "posix_memalign"
            | "strcpy" | "strncpy" | "strcat" | "strncat" | "stat" | "fstat" | "modf" | "frexp"
            | "sincos" | "gethostname" | "strftime" | "strtoll" | "strtod" => {
                Library::WritesArguments
            }
            _ if name.starts_with("_FortranAioInput") => Library::WritesArguments,
            _ if name.starts_with("llvm.") || name.starts_with("_FortranAio") => Library::Nothing,
            // To the next node of a map.
            _ if name.starts_with("_ZSt18_Rb_tree_") => Library::Nothing,
            _ if is_output(name) => Library::Nothing,
            _ if name.starts_with("_FortranA") => Library::WritesArguments,
            _ => Library::Anything,
        }
    }

    /// The arguments that it may write through.
    pub fn written(self, args: &[Value]) -> &[Value] {
        match self {
            Library::Nothing | Library::Releases | Library::Forks => &[],
            Library::Copies | Library::Fills => &args[..args.len().min(1)],
            Library::WritesArguments | Library::Anything => args,
        }
    }
}

/// Whether a function writes to a C++ stream or queries its state: the contents of streams are not
/// tracked.
fn is_output(name: &str) -> bool {
    const OUTPUT: [&str; 6] = [
        "_ZNSo",
        "_ZStls",
        "_ZSt16__ostream_insert",
        "_ZNSt9basic_iosIcSt11char_traitsIcEE5clear",
        "_ZNSt13basic_filebufIcSt11char_traitsIcEE",
        "_ZNKSt5ctypeIcE",
    ];
    OUTPUT.iter().any(|begin| name.starts_with(begin))
}
