//! `commsan view`: shows a run in the browser.

use crate::exit_code;
use crate::failure::{Failure, note, warn};
use crate::{profile, report};
use commsan_viewer_server::{Address, Runs, Settings};
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

/// Arguments of `commsan view`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Run directory; by default that of the latest run here
    run: Option<PathBuf>,
    /// Earlier run to compare with
    before: Option<PathBuf>,
    /// Port on this machine; by default any free port
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Only print the address
    #[arg(long)]
    no_open: bool,
}

/// Serves the run until Ctrl-C.
pub fn main(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let before = arguments.before.as_deref().map(profile::of_directory).transpose()?;
    let runs =
        Runs::new(profile::of_directory(&report::directory(arguments.run.as_deref())?)?, before);
    let settings = Settings { port: arguments.port };
    let opens = !arguments.no_open && has_display();
    commsan_viewer_server::serve(runs, settings, |address| announce(address, opens))
        .map_err(|error| cannot_serve(&error, arguments.port))?;
    Ok(ExitCode::SUCCESS)
}

fn announce(address: &Address, opens: bool) {
    note(&format!("the run is shown at {}", address.url));
    note(&format!("from another machine, first: {}", address.tunnel));
    note("Ctrl-C ends it");
    if opens && let Err(error) = open(&address.url) {
        let help = "open the address yourself, or use --no-open".to_owned();
        warn(&format!("no browser could be started: {error}"), &[help]);
    }
}

/// Whether there is a display for a browser. Over ssh it would be on the wrong screen, if any.
fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    (set("DISPLAY") || set("WAYLAND_DISPLAY")) && !set("SSH_CONNECTION")
}

fn open(url: &str) -> io::Result<()> {
    let mut command = Command::new("xdg-open");
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(|_| ())
}

fn cannot_serve(error: &io::Error, port: u16) -> Failure {
    let failure = Failure::new(exit_code::REPORT, format!("the viewer cannot be served: {error}"));
    match error.kind() {
        io::ErrorKind::AddrInUse => failure.help(format!(
            "port {port} is taken: choose another one, or leave out --port to use any that is free"
        )),
        _ => failure,
    }
}
