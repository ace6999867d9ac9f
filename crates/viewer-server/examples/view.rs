//! Serves a run directory, compared with another one if given: `view RUN [BEFORE]`; or writes it as
//! one file: `view --html FILE RUN [BEFORE]`. What the browser's tests start; users have `commsan
//! view`.

use commsan_profile::Profile;
use commsan_rundir::RunDirectory;
use commsan_viewer_server::{Limits, Runs, Settings, export_html, serve};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let html = (arguments.first().map(String::as_str) == Some("--html")).then(|| {
        arguments.remove(0);
        arguments.remove(0)
    });
    let read = |path: &String| -> Result<Profile, Box<dyn Error>> {
        Ok(Profile::read(&RunDirectory::open(Path::new(path))?, &mut |_| ())?)
    };
    let run = arguments.first().ok_or("usage: view [--html FILE] RUN [BEFORE]")?;
    let runs = Runs::new(read(run)?, arguments.get(1).map(read).transpose()?);
    match html {
        Some(path) => {
            Ok(export_html(&runs, Limits::default(), &mut BufWriter::new(File::create(path)?))?)
        }
        None => Ok(serve(runs, Settings::default(), |address| println!("{}", address.url))?),
    }
}
