//! Integer constants of `mpi.h` and the layout of `MPI_Status`, by family.

/// Writes the struct, its value for each family, and the list of its fields by C expression.
macro_rules! constants {
    ($($field:ident, $expression:literal: $open_mpi:expr, $mpich:expr, $standard:expr;)*) => {
        /// Integer constants of one family, and where its `MPI_Status` has what.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Constants {
            $(#[doc = concat!("`", $expression, "`")] pub $field: i64,)*
            /// Offset of the number of bytes received in `MPI_Status`; no public field.
            pub status_count: i64,
        }

        pub(crate) static OPEN_MPI: Constants =
            Constants { $($field: $open_mpi,)* status_count: 16 };
        pub(crate) static MPICH: Constants = Constants { $($field: $mpich,)* status_count: 0 };
        pub(crate) static STANDARD: Constants =
            Constants { $($field: $standard,)* status_count: 12 };

        impl Constants {
            /// Each constant by the C expression that has its value.
            pub fn named(&self) -> [(&'static str, i64); [$($expression),*].len()] {
                [$(($expression, self.$field)),*]
            }
        }
    };
}

constants! {
    // Ranks, tags and keys.                                  Open MPI, MPICH, standard ABI
    any_source, "MPI_ANY_SOURCE":                             -1, -2, -1;
    any_tag, "MPI_ANY_TAG":                                   -1, -1, -2;
    proc_null, "MPI_PROC_NULL":                               -2, -1, -3;
    root, "MPI_ROOT":                                         -4, -3, -4;
    undefined, "MPI_UNDEFINED":                               -32766, -32766, -32766;
    keyval_invalid, "MPI_KEYVAL_INVALID":                     -1, 0x2400_0000, 0;
    // Addresses that are none.
    bottom, "(long)MPI_BOTTOM":                               0, 0, 0;
    in_place, "(long)MPI_IN_PLACE":                           1, -1, 1;
    status_ignore, "(long)MPI_STATUS_IGNORE":                 0, 1, 0;
    statuses_ignore, "(long)MPI_STATUSES_IGNORE":             0, 1, 0;
    // Open MPI 5 has none yet.
    buffer_automatic, "(long)MPI_BUFFER_AUTOMATIC":           -2, -2, 2;
    // Thread levels.
    thread_single, "MPI_THREAD_SINGLE":                       0, 0, 0;
    thread_funneled, "MPI_THREAD_FUNNELED":                   1, 1, 1024;
    thread_serialized, "MPI_THREAD_SERIALIZED":               2, 2, 2048;
    thread_multiple, "MPI_THREAD_MULTIPLE":                   3, 3, 4096;
    // Assertions of windows, and locks.
    mode_nocheck, "MPI_MODE_NOCHECK":                         1, 1024, 1024;
    mode_noprecede, "MPI_MODE_NOPRECEDE":                     2, 8192, 2048;
    mode_noput, "MPI_MODE_NOPUT":                             4, 4096, 4096;
    mode_nostore, "MPI_MODE_NOSTORE":                         8, 2048, 8192;
    mode_nosucceed, "MPI_MODE_NOSUCCEED":                     16, 16384, 16384;
    lock_exclusive, "MPI_LOCK_EXCLUSIVE":                     1, 234, 301;
    lock_shared, "MPI_LOCK_SHARED":                           2, 235, 302;
    // Topologies.
    cart, "MPI_CART":                                         1, 2, 211;
    graph, "MPI_GRAPH":                                       2, 1, 212;
    dist_graph, "MPI_DIST_GRAPH":                             3, 3, 213;
    // Error classes.
    success, "MPI_SUCCESS":                                   0, 0, 0;
    err_truncate, "MPI_ERR_TRUNCATE":                         15, 14, 15;
    err_in_status, "MPI_ERR_IN_STATUS":                       18, 17, 19;
    err_pending, "MPI_ERR_PENDING":                           19, 18, 18;
    // The status.
    status_bytes, "sizeof(MPI_Status)":                       24, 20, 32;
    status_source, "offsetof(MPI_Status, MPI_SOURCE)":        0, 8, 0;
    status_tag, "offsetof(MPI_Status, MPI_TAG)":              4, 12, 4;
    status_error, "offsetof(MPI_Status, MPI_ERROR)":          8, 16, 8;
    // Attributes.
    tag_ub, "MPI_TAG_UB":                                    0, 0x6440_0001, 501;
    win_model, "MPI_WIN_MODEL":                              11, 0x6600_0009, 605;
    win_separate, "MPI_WIN_SEPARATE":                        1, 1, 322;
    // Sizes in bytes.
    bsend_overhead, "MPI_BSEND_OVERHEAD":                    128, 96, 512;
    max_object_name, "MPI_MAX_OBJECT_NAME":                  64, 128, 128;
    max_library_version_string, "MPI_MAX_LIBRARY_VERSION_STRING": 256, 8192, 8192;
    max_processor_name, "MPI_MAX_PROCESSOR_NAME":            256, 128, 256;
    max_error_string, "MPI_MAX_ERROR_STRING":                256, 512, 512;
    max_port_name, "MPI_MAX_PORT_NAME":                      1024, 256, 1024;
    max_info_key, "MPI_MAX_INFO_KEY":                        36, 255, 256;
    max_datarep_string, "MPI_MAX_DATAREP_STRING":            128, 128, 128;
    // Files.
    mode_rdonly, "MPI_MODE_RDONLY":                          2, 2, 16;
    mode_wronly, "MPI_MODE_WRONLY":                          4, 4, 256;
    mode_rdwr, "MPI_MODE_RDWR":                              8, 8, 32;
    mode_create, "MPI_MODE_CREATE":                          1, 1, 2;
    mode_excl, "MPI_MODE_EXCL":                              64, 64, 8;
    mode_sequential, "MPI_MODE_SEQUENTIAL":                  256, 256, 64;
    seek_set, "MPI_SEEK_SET":                                600, 600, 403;
    seek_cur, "MPI_SEEK_CUR":                                602, 602, 401;
    seek_end, "MPI_SEEK_END":                                604, 604, 402;
    displacement_current, "MPI_DISPLACEMENT_CURRENT":        -54278278, -54278278, -1;
    // Constructors of datatypes.
    order_c, "MPI_ORDER_C":                                  0, 56, 12;
    distribute_block, "MPI_DISTRIBUTE_BLOCK":                0, 121, 17;
    distribute_cyclic, "MPI_DISTRIBUTE_CYCLIC":              1, 122, 18;
    distribute_none, "MPI_DISTRIBUTE_NONE":                  2, 123, 16;
    distribute_dflt_darg, "MPI_DISTRIBUTE_DFLT_DARG":        -1, -49767, 19;
    combiner_named, "MPI_COMBINER_NAMED":                    0, 1, 101;
    combiner_f90_real, "MPI_COMBINER_F90_REAL":              14, 15, 113;
    combiner_f90_complex, "MPI_COMBINER_F90_COMPLEX":        15, 16, 114;
    combiner_f90_integer, "MPI_COMBINER_F90_INTEGER":        16, 17, 115;
    combiner_dup, "MPI_COMBINER_DUP":                        1, 2, 102;
    combiner_contiguous, "MPI_COMBINER_CONTIGUOUS":          2, 3, 103;
    combiner_vector, "MPI_COMBINER_VECTOR":                  3, 4, 104;
    combiner_hvector, "MPI_COMBINER_HVECTOR":                5, 6, 105;
    combiner_indexed, "MPI_COMBINER_INDEXED":                6, 7, 106;
    combiner_hindexed, "MPI_COMBINER_HINDEXED":              8, 9, 107;
    combiner_indexed_block, "MPI_COMBINER_INDEXED_BLOCK":    9, 10, 108;
    combiner_hindexed_block, "MPI_COMBINER_HINDEXED_BLOCK":  18, 19, 109;
    combiner_struct, "MPI_COMBINER_STRUCT":                  11, 12, 110;
    combiner_subarray, "MPI_COMBINER_SUBARRAY":              12, 13, 111;
    combiner_darray, "MPI_COMBINER_DARRAY":                  13, 14, 112;
    combiner_resized, "MPI_COMBINER_RESIZED":                17, 18, 116;
    // More error classes.
    err_other, "MPI_ERR_OTHER":                              16, 15, 16;
}

#[cfg(test)]
mod tests {
    use crate::MpiFamily;

    /// Names whose values the standard requires to differ (MPI 4.1 §2.5.4, §3.2.4, §3.10, §7.4.2,
    /// §7.5.5, §11.6, §12.5.5).
    const DISTINCT: [&[&str]; 7] = [
        // Source and destination arguments.
        &["MPI_ANY_SOURCE", "MPI_PROC_NULL", "MPI_ROOT", "MPI_UNDEFINED"],
        &["MPI_ANY_TAG", "MPI_UNDEFINED"],
        // Buffers.
        &["(long)MPI_BOTTOM", "(long)MPI_IN_PLACE"],
        &[
            "MPI_THREAD_SINGLE",
            "MPI_THREAD_FUNNELED",
            "MPI_THREAD_SERIALIZED",
            "MPI_THREAD_MULTIPLE",
        ],
        &["MPI_LOCK_EXCLUSIVE", "MPI_LOCK_SHARED"],
        &["MPI_CART", "MPI_GRAPH", "MPI_DIST_GRAPH", "MPI_UNDEFINED"],
        &["MPI_SUCCESS", "MPI_ERR_TRUNCATE", "MPI_ERR_IN_STATUS", "MPI_ERR_PENDING"],
    ];

    fn value(family: MpiFamily, name: &str) -> i64 {
        let named = family.constants().named();
        named.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name}")).1
    }

    #[test]
    fn constants_that_must_differ_do() {
        for family in MpiFamily::ALL {
            for names in DISTINCT {
                let mut values: Vec<_> = names.iter().map(|name| value(family, name)).collect();
                values.sort_unstable();
                values.dedup();
                assert_eq!(values.len(), names.len(), "{family}: {names:?}");
            }
        }
    }

    #[test]
    fn special_ranks_are_no_ranks_and_thread_levels_are_ordered() {
        for family in MpiFamily::ALL {
            let constants = family.constants();
            for rank in [constants.any_source, constants.proc_null, constants.root] {
                assert!(rank < 0, "{family}");
            }
            assert!(constants.any_tag < 0 && constants.undefined < 0, "{family}");
            let levels = [
                constants.thread_single,
                constants.thread_funneled,
                constants.thread_serialized,
                constants.thread_multiple,
            ];
            assert!(levels.is_sorted(), "{family}: MPI 4.1 §11.6.2");
        }
    }

    #[test]
    fn assertions_are_single_bits() {
        for family in MpiFamily::ALL {
            let constants = family.constants();
            let bits = [
                constants.mode_nocheck,
                constants.mode_nostore,
                constants.mode_noput,
                constants.mode_noprecede,
                constants.mode_nosucceed,
            ];
            let all = bits.iter().fold(0, |all, bit| all | bit);
            assert_eq!(all.count_ones(), 5, "{family}: each is a bit of its own (§12.5.5)");
        }
    }
}
