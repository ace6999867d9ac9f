//! Takes the viewer that `npm run build` has made; without one, a page that says how to make it, so
//! that commsan can be built where there is no Node.js.

use std::path::{Path, PathBuf};
use std::{env, fs};

const FILES: [&str; 3] = ["index.html", "viewer.js", "viewer.css"];

const NO_VIEWER: &str = include_str!("no_viewer.html");

fn main() {
    let dist = Path::new("../../viewer/dist");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=no_viewer.html");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let built = FILES.iter().all(|name| dist.join(name).is_file());
    for name in FILES {
        let from = dist.join(name);
        // A path that does not exist makes this run again each time, until it does.
        println!("cargo::rerun-if-changed={}", from.display());
        let contents = match name {
            _ if built => fs::read(&from).expect("the file is there"),
            "index.html" => NO_VIEWER.as_bytes().to_vec(),
            _ => Vec::new(),
        };
        fs::write(out.join(name), contents).expect("OUT_DIR can be written");
    }
}
