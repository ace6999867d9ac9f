//! Functions of the C and C++ libraries.

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
    /// Returns its first argument, or a place in it, and keeps none.
    ReturnsFirst,
    /// Keeps none of its arguments and returns no pointer to what it was given.
    Forgets,
    /// Returns a node of a list or tree of libstdc++ that is linked with the first argument; its links are
    /// at these bytes.
    WalksNodes(&'static [i64]),
    /// Works on the string that is its first argument, which has its text in memory of its own or in itself,
    /// and may return a place in it.
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
            "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base"
            | "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base"
            | "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base"
            | "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base" => Library::WalksNodes(TREE),
            "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_"
            | "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_" => {
                Library::LinksNodes(TREE)
            }
            _ if name.starts_with("_ZNSt8__detail15_List_node_base") => Library::LinksNodes(LIST),
            _ if name.contains("20_Prime_rehash_policy")
                || name.starts_with("_ZSt11_Hash_bytes") =>
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
            _ if moves_text(name) => Library::ReturnsFirst,
            _ if name.starts_with("_FortranA") || name.starts_with("llvm.") => Library::Forgets,
            _ => return None,
        })
    }
}

/// Whether a function writes to, or reads from, a stream of C++, and returns the stream. Those that are
/// given a function, or another stream's buffer, may do more.
fn moves_text(name: &str) -> bool {
    const BEGINS: [&str; 5] = ["_ZNSo", "_ZNSi", "_ZStls", "_ZStrs", "_ZSt16__ostream_insert"];
    BEGINS.iter().any(|begin| name.starts_with(begin))
        && !name.contains("EPF")
        && !name.contains("streambuf")
}
