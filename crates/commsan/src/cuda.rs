//! Reads the CUDA part of a program file, and decides whether simulated devices can run it.

use commsan_ptx::fatbin;
use object::{Object, ObjectSection, ReadRef};

/// Versions of the CUDA runtime for which commsan has a simulated one.
const SIMULATED: [&str; 2] = ["libcudart.so.12", "libcudart.so.13"];

/// Architecture of simulated devices.
const ARCHITECTURE: u32 = 90;

/// Properties of a program that uses CUDA.
#[derive(Debug, Default)]
pub struct Cuda {
    /// The shared CUDA runtime that the program needs; `None` if the runtime is linked statically.
    pub runtime: Option<String>,
    /// Why simulated devices cannot execute the program's kernels, if they cannot.
    pub unusable: Option<String>,
}

/// A reason, and what to do about it.
pub type Obstacle = (String, String);

impl Cuda {
    /// Reads the properties; `None` if the file does not use CUDA.
    pub fn read<'a, R: ReadRef<'a>>(elf: &object::File<'a, R>, needed: &[String]) -> Option<Cuda> {
        let section = |name| elf.section_by_name(name).and_then(|section| section.data().ok());
        let runtime = needed.iter().find(|name| name.starts_with("libcudart.so")).cloned();
        let code = section(".nv_fatbin");
        if runtime.is_none() && code.is_none() {
            return None;
        }
        // Relocatable device code, linked from several files, is in a section of its own.
        let unusable = section("__nv_relfatbin").or(code).and_then(no_ptx);
        Some(Cuda { runtime, unusable })
    }

    /// Why simulated devices cannot run the program, with advice; `None` if they can.
    pub fn obstacle(&self, program: &str) -> Option<Obstacle> {
        match &self.runtime {
            None => {
                return Some((
                    format!(
                        "`{program}` is statically linked with the CUDA runtime, so commsan cannot replace it"
                    ),
                    "link it with `-cudart shared`, as `commsan nvcc` does; in CMake, set \
                     CMAKE_CUDA_RUNTIME_LIBRARY to Shared"
                        .to_owned(),
                ));
            }
            Some(name) if !SIMULATED.contains(&name.as_str()) => {
                return Some((
                    format!("`{program}` needs {name}, for which there is no simulated runtime"),
                    "build it with CUDA 12 or 13".to_owned(),
                ));
            }
            Some(_) => {}
        }
        let reason = self.unusable.as_ref()?;
        let what =
            format!("simulated devices cannot execute the device code of `{program}`: {reason}");
        Some((what, "`commsan nvcc` adds PTX where no option asks for any".to_owned()))
    }
}

/// Why none of the fatbins in a section can be executed, if none can. The simulated device reports
/// kernels that single fatbins lack at launch; nvcc's links leave one fatbin without kernels.
fn no_ptx(section: &[u8]) -> Option<String> {
    let mut reasons = Vec::new();
    for fatbin in fatbins(section) {
        let images = fatbin::read(fatbin).ok()?;
        match fatbin::ptx_for(&images, ARCHITECTURE) {
            Ok(_) => return None,
            Err(error) => reasons.push(error.to_string()),
        }
    }
    reasons.into_iter().next()
}

/// The fatbins in a section, which begin at multiples of 8 bytes.
fn fatbins(section: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(rest) = section.get(at..).filter(|rest| rest.len() >= fatbin::HEADER) {
            if let Some(found) = fatbin::size(rest).ok().and_then(|size| rest.get(..size)) {
                at += found.len().next_multiple_of(8);
                return Some(found);
            }
            at += 8;
        }
        None
    })
}

/// Whether this machine has an NVIDIA device.
pub fn has_device() -> bool {
    let listed = std::fs::read_dir("/proc/driver/nvidia/gpus");
    listed.is_ok_and(|mut devices| devices.next().is_some())
        || std::path::Path::new("/dev/dxg").exists()
}
