use super::*;

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}

fn read(text: &str) -> CommandLine {
    CommandLine::read(&words(text), |_| None)
}

fn planned(text: &str) -> Plan {
    plan(read(text), "g++".into(), Path::new("/w/commsan-cxx"), Path::new("/l/commsan")).unwrap()
}

/// The arguments that the wrapper adds in front of the user's.
fn added(text: &str) -> String {
    let args = planned(text).args;
    let front: Vec<_> = args.iter().take_while(|arg| *arg != "a.cu").collect();
    front.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_runtime_is_shared_lines_are_kept_and_the_host_compiler_is_a_wrapper() {
    assert_eq!(added("a.cu"), "-lineinfo -cudart shared -ccbin /w/commsan-cxx");
    assert_eq!(added("a.cu -G --cudart=none"), "-ccbin /w/commsan-cxx");
    assert_eq!(added("a.cu --generate-line-info -cudart shared"), "-ccbin /w/commsan-cxx");
    assert_eq!(planned("a.cu -O2").host, Some("g++".into()));
}

#[test]
fn a_static_runtime_is_warned_of() {
    assert!(planned("a.cu -cudart=static").warning.unwrap().contains("-cudart shared"));
    assert!(planned("a.cu --cudart shared").warning.is_none());
}

#[test]
fn the_users_host_compiler_is_run_by_the_wrapper() {
    for option in ["-ccbin mpicxx", "-ccbin=mpicxx", "--compiler-bindir mpicxx"] {
        let plan = planned(&format!("-c {option} a.cu -o a.o"));
        assert_eq!(plan.host, Some("mpicxx".into()));
        assert!(plan.args.ends_with(&words("-ccbin /w/commsan-cxx -c a.cu -o a.o")), "{plan:?}");
    }
    assert_eq!(planned("-ccbin /usr/bin a.cu").host, Some("/usr/bin/g++".into()));
    let ours = planned("-ccbin /x/commsan-cxx a.cu");
    assert_eq!(ours.host, None);
    assert!(ours.args.ends_with(&words("-ccbin /x/commsan-cxx a.cu")));
}

#[test]
fn simulated_libraries_are_found_where_nobody_else_has_them() {
    for option in ["-lnccl", "-l nccl", "--library=m,nccl", "-lnvshmem_host"] {
        let plan = planned(&format!("a.cu -L/own {option}"));
        assert_eq!(plan.args.last(), Some(&"-L/l/commsan/simgpu".into()), "{option}");
    }
    assert!(!read("a.cu -lncclx -Xcompiler -lnccl").links_simulated);
}

#[test]
fn what_is_for_other_programs_is_not_read() {
    assert!(!read("-Xcompiler -E a.cu").is_query);
    assert!(!read("--linker-options -M -Xptxas -V a.cu").is_query);
    assert!(!read("-c a.cu -o -E").is_query);
    for query in ["", "--version", "-V", "-h", "-E a.cu", "-M a.cu", "--list-gpu-arch"] {
        assert!(read(query).is_query, "{query}");
    }
    for build in ["a.cu", "-MD -c a.cu", "--dryrun a.cu", "-ptx a.cu", "a.o -o a"] {
        assert!(!read(build).is_query, "{build}");
    }
}

#[test]
fn ptx_is_added_where_there_is_none() {
    for (options, missing) in [
        ("-arch=sm_90", None),
        ("-arch compute_90 -code sm_90", Some("compute_90")),
        ("-arch=compute_90 -code=sm_90,compute_90", None),
        (
            "-gencode arch=compute_80,code=sm_80 --generate-code=arch=compute_100,code=sm_100",
            Some("compute_100"),
        ),
        ("-gencode=arch=compute_90,code=[sm_90,compute_90]", None),
        ("-gencode arch=compute_90,code=\"sm_90,compute_90\"", None),
        ("-gencode arch=compute_90a,code=sm_90a", Some("compute_90a")),
        ("-gencode arch=compute_90,code=lto_90", None),
        ("-gencode arch=compute_90,code=sm_90 -arch=sm_80", None),
        ("-arch=native", None),
    ] {
        assert_eq!(read(options).missing_ptx().as_deref(), missing, "{options}");
    }
    let added = added("-gencode arch=compute_90,code=sm_90 a.cu");
    assert!(
        added.starts_with("-lineinfo -cudart shared -gencode arch=compute_90,code=compute_90 ")
    );
}

#[test]
fn options_come_from_files_and_the_environment_too() {
    let path = std::env::temp_dir().join(format!("commsan-nvcc-{}", std::process::id()));
    std::fs::write(&path, "-ccbin mpicxx\n-G -DX='a b'").unwrap();
    let line = read(&format!("-c a.cu -optf {} -O2", path.display()));
    std::fs::write(&path, "-G").unwrap();
    let other = read(&format!("a.cu -optf {}", path.display()));
    assert!(other.has_line_info && other.args.len() == 3);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(line.host.as_deref(), Some("mpicxx"));
    assert!(line.has_line_info);
    assert_eq!(line.args, ["-c", "a.cu", "-G", "-DX=a b", "-O2"]);
    assert_eq!(read("a.cu -optf /nonexistent").args, words("a.cu -optf /nonexistent"));

    let environment = |name: &str| match name {
        "NVCC_PREPEND_FLAGS" => Some("-ccbin clang++".to_owned()),
        "NVCC_APPEND_FLAGS" => Some("-lineinfo".to_owned()),
        _ => None,
    };
    let line = CommandLine::read(&words("a.cu"), environment);
    assert_eq!((line.host.as_deref(), line.has_line_info), (Some("clang++"), true));
    assert_eq!(line.args, words("a.cu -lineinfo"));
}
