use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An empty directory of one test.
fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("commsan-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

#[test]
fn an_installed_plugin_of_gcc_fits_one_build_of_it() {
    let library = directory("gcc");
    let compiler = [OsString::from("gcc")];
    let write = |id: &str| fs::write(library.join("commsan_gcc-1.2.3.id"), id).unwrap();
    let plugin = library.join("commsan_gcc-1.2.3.so");
    fs::write(&plugin, "").unwrap();
    let identity = gcc::identity(&compiler).unwrap();
    write(&format!("{identity}\nof these sources\n"));
    assert_eq!(gcc::installed(&compiler, &library), Some(plugin.clone()));
    write(&format!("{identity}1\n"));
    assert_eq!(gcc::installed(&compiler, &library), None);
    write(&identity);
    fs::remove_file(plugin).unwrap();
    assert_eq!(gcc::installed(&compiler, &library), None);
    assert_eq!(gcc::installed(&["no-such-compiler".into()], &library), None);
    fs::remove_dir_all(library).unwrap();
}

#[test]
fn an_installed_shim_fits_a_version_as_published() {
    let library = directory("llvm");
    let plugin = library.join("libcommsan_pass-19.so");
    fs::write(&plugin, "").unwrap();
    let found = |llvm, published| {
        installed(&[], Compiler { family: Family::Clang, llvm, published }, &library)
    };
    assert_eq!(found(Some(19), true), Some(plugin));
    assert_eq!(found(Some(20), true), None);
    assert_eq!(found(Some(19), false), None);
    assert_eq!(found(None, false), None);
    fs::remove_dir_all(library).unwrap();
}

#[test]
fn of_many_that_need_an_entry_one_makes_it() {
    let base = directory("cache");
    let (made, cache) = (AtomicUsize::new(0), Cache::in_directory(base.clone()));
    let make = |directory: &Path| {
        made.fetch_add(1, Ordering::Relaxed);
        let file = directory.join("plugin.so");
        fs::write(&file, "complete").unwrap();
        Ok(file)
    };
    std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                let entry = cache.obtain("one", make).unwrap();
                assert_eq!(fs::read_to_string(entry).unwrap(), "complete");
            });
        }
    });
    assert_eq!(made.into_inner(), 1);
    fs::remove_dir_all(base).unwrap();
}

#[test]
fn a_failure_is_told_and_remembered_until_it_is_forgotten() {
    let base = directory("failure");
    let cache = Cache::in_directory(base.clone());
    let fail = |_: &Path| Err(Lack::new("g++ cannot compile it\nb.cc:1: error", ""));
    let lack = cache.obtain("one", fail).unwrap_err();
    assert_eq!(lack.why, "g++ cannot compile it");
    assert!(lack.cure.contains("one.failed"), "{}", lack.cure);
    assert_eq!(cache.recent_failure("one", Duration::MAX), Some(lack.clone()));
    assert_eq!(cache.recent_failure("one", Duration::ZERO), None);
    let again = cache.obtain("one", |_| panic!("compiled again")).unwrap_err();
    assert_eq!(again, lack);
    cache.forget_failure("one");
    assert_eq!(cache.recent_failure("one", Duration::MAX), None);
    fs::remove_dir_all(base).unwrap();
}

#[test]
fn a_cache_that_cannot_be_written_is_told() {
    let base = directory("unwritable").join("file");
    fs::write(&base, "").unwrap();
    let cache = Cache::in_directory(base.join("cache"));
    let lack = cache.obtain("one", |_| panic!("nowhere to make it")).unwrap_err();
    assert!(lack.why.contains("cannot be written"), "{}", lack.why);
    assert!(lack.cure.contains("XDG_CACHE_HOME"), "{}", lack.cure);
}

#[test]
fn units_are_compiled_in_a_directory_of_their_own() {
    let base = directory("build");
    let recipe = |text| Recipe {
        label: "nothing".into(),
        sources: text,
        options: vec!["-fPIC".into()],
        link: Vec::new(),
        compilers: vec![vec!["no-such-compiler".into()], vec!["g++".into()]],
    };
    let good = recipe(&[("a/a.cc", "#include \"b.h\"\n"), ("a/b.h", "int b;\n")]);
    assert!(build::compile(&good, &base).unwrap().is_file());
    let lack = build::compile(&recipe(&[("a/a.cc", "int ? b;\n")]), &base).unwrap_err();
    assert!(lack.why.starts_with("g++ cannot compile the plugin for nothing\n"), "{}", lack.why);
    assert!(lack.why.contains("a/a.cc:1"), "{}", lack.why);
    fs::remove_dir_all(base).unwrap();
}
