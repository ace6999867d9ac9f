//! Fatbins as nvcc writes them, compared with the output of `cuobjdump`.

mod toolkit;

use commsan_ptx::fatbin::{self, Error, Kind, Wrapper};
use object::{Object, ObjectSection};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

const TWO_PTX: [&str; 6] = [
    "-gencode",
    "arch=compute_80,code=sm_80",
    "-gencode",
    "arch=compute_75,code=compute_75",
    "-gencode",
    "arch=compute_90,code=compute_90",
];

/// The fatbin that nvcc makes with some arguments; cached, since that takes a second.
fn fatbin(arguments: &[&str]) -> Vec<u8> {
    static KNOWN: Mutex<BTreeMap<String, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let name = arguments.join(" ");
    if let Some(known) = KNOWN.lock().unwrap().get(&name) {
        return known.clone();
    }
    let made = toolkit::nvcc("saxpy.cu", &[&["-fatbin"], arguments].concat());
    KNOWN.lock().unwrap().insert(name, made.clone());
    made
}

/// The PTX texts of a fatbin without empty lines, sorted.
fn texts(bytes: &[u8]) -> Vec<String> {
    let images = fatbin::read(bytes).expect("a fatbin");
    let ptx = images.iter().filter(|i| i.kind == Kind::Ptx);
    sorted(ptx.map(|i| i.ptx().expect("an image").expect("PTX")))
}

fn sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let dense = |text: String| {
        let lines = text.lines().map(str::trim_end).filter(|l| !l.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    };
    let mut all: Vec<_> = texts.map(dense).collect();
    all.sort();
    all
}

#[test]
fn every_compression_gives_what_cuobjdump_gives() {
    let modes: [&[&str]; 5] = [
        &["-Xfatbin", "--compress-mode=default"],
        &["-Xfatbin", "--compress-mode=speed"],
        &["-Xfatbin", "--compress-mode=none", "-G"],
        &["-Xfatbin", "-compress-all", "-rdc=true"],
        &["--no-compress", "-lineinfo"],
    ];
    for mode in modes {
        let bytes = fatbin(&[&TWO_PTX, mode].concat());
        let expected = sorted(toolkit::cuobjdump(&bytes).into_iter());
        assert_eq!(expected.len(), 2, "{mode:?}");
        assert_eq!(texts(&bytes), expected, "{mode:?}");
    }
}

#[test]
fn images_that_are_compressed_together_are_told_apart() {
    let together = fatbin(&[&TWO_PTX[..], &["-lineinfo", "-Xfatbin", "--concat"]].concat());
    let apart = fatbin(&[&TWO_PTX[..], &["-lineinfo"]].concat());
    assert!(!texts(&apart).is_empty());
    assert_eq!(texts(&together), texts(&apart));
    let images = fatbin::read(&together).unwrap();
    let ptx: Vec<_> = images.iter().filter(|i| i.kind == Kind::Ptx).collect();
    assert!(ptx.iter().all(|i| i.options == "--generate-line-info" && i.version.0 >= 9));
}

#[test]
fn the_newest_text_that_fits_the_device_is_taken() {
    let bytes = fatbin(&TWO_PTX);
    let images = fatbin::read(&bytes).unwrap();
    let target = |device| -> Result<String, Error> {
        let text = fatbin::ptx_for(&images, device)?;
        Ok(text.lines().find_map(|l| l.strip_prefix(".target ")).unwrap_or_default().to_owned())
    };
    assert_eq!(target(120).unwrap(), "sm_90");
    assert_eq!(target(90).unwrap(), "sm_90");
    assert_eq!(target(86).unwrap(), "sm_75");
    let error = target(60).unwrap_err();
    assert_eq!(error, Error::NoPtx { device: 60, ptx: vec![75, 90], cubins: vec![80] });
    assert!(error.to_string().contains("only for sm_75, sm_90"), "{error}");
}

#[test]
fn code_for_one_architecture_is_for_no_other() {
    let bytes = fatbin(&["-arch=sm_90a"]);
    let images = fatbin::read(&bytes).unwrap();
    let specific = |device| fatbin::ptx_for(&images, device).unwrap().contains("sm_90a");
    assert!(specific(90) && !specific(100));
}

#[test]
fn machine_code_alone_has_text_only_if_built_with_lines() {
    let only = ["-gencode", "arch=compute_90,code=sm_90"];
    let bytes = fatbin(&only);
    let error = fatbin::ptx_for(&fatbin::read(&bytes).unwrap(), 90).unwrap_err();
    assert!(error.to_string().contains("build with `nvcc -arch=sm_90`"), "{error}");
    let bytes = fatbin(&[&only[..], &["-lineinfo"]].concat());
    let text = fatbin::ptx_for(&fatbin::read(&bytes).unwrap(), 90).unwrap();
    assert!(text.contains(".entry _Z5saxpyifPKfPf"), "{text}");
    commsan_ptx::Module::parse(&text).unwrap();
}

/// The sections of a program that hold fatbins, and the contents of its wrappers.
fn program(arguments: &[&str]) -> (Vec<Wrapper>, Vec<u8>, Vec<u8>) {
    let bytes = toolkit::nvcc("saxpy.cu", arguments);
    let file = object::File::parse(&*bytes).expect("a program");
    let section = |name| match file.section_by_name(name) {
        Some(section) => section.data().expect("its data").to_vec(),
        None => Vec::new(),
    };
    let wrappers = section(".nvFatBinSegment");
    let wrappers = wrappers.chunks(Wrapper::SIZE).map(|w| Wrapper::read(w).expect("a wrapper"));
    (wrappers.collect(), section(".nv_fatbin"), section("__nv_relfatbin"))
}

#[test]
fn programs_hold_wrappers_of_their_fatbins() {
    let (wrappers, fatbins, _) = program(&["-arch=sm_90"]);
    assert!(wrappers.iter().any(|w| w.parts.is_none()), "{wrappers:?}");
    assert_eq!(fatbin::read(&fatbins).unwrap().iter().filter(|i| i.kind == Kind::Ptx).count(), 1);
    let (wrappers, _, parts) = program(&["-arch=sm_90", "-rdc=true"]);
    assert!(wrappers.iter().any(|w| w.parts.is_some()), "{wrappers:?}");
    let parts = fatbin::read(&parts).unwrap();
    assert!(parts.iter().any(|i| i.kind == Kind::Ptx && i.is_relocatable()), "{parts:?}");
}

#[test]
fn damage_is_an_error() {
    assert_eq!(fatbin::read(b"").unwrap_err(), Error::Truncated);
    assert_eq!(fatbin::read(&[7; 64]).unwrap_err(), Error::NoFatbin);
    let bytes = fatbin(&TWO_PTX);
    for end in 0..bytes.len() {
        assert_eq!(fatbin::read(&bytes[..end]).unwrap_err(), Error::Truncated, "{end}");
    }
}

static SAMPLES: LazyLock<[Vec<u8>; 3]> = LazyLock::new(|| {
    let with = |more: &[&str]| fatbin(&[&TWO_PTX[..], more].concat());
    let mode = |mode| with(&["-Xfatbin", mode]);
    [with(&[]), mode("--compress-mode=speed"), with(&["-lineinfo", "-Xfatbin", "--concat"])]
});

proptest! {
    #[test]
    fn nothing_makes_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = (fatbin::read(&bytes), Wrapper::read(&bytes));
    }

    #[test]
    fn nor_does_a_damaged_fatbin(
        sample in 0usize..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = SAMPLES[sample].clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(images) = fatbin::read(&bytes) {
            images.iter().for_each(|image| drop(image.ptx()));
            let _ = fatbin::ptx_for(&images, 90);
        }
    }
}
