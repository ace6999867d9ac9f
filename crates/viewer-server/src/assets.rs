//! The viewer's files, which `build.rs` embeds.

/// The page, which loads the two others.
pub const PAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/index.html"));
/// All of the code.
pub const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/viewer.js"));
/// All of the styles.
pub const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/viewer.css"));

/// A file of the viewer.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Its media type.
    pub media: &'static str,
    /// Its contents.
    pub body: &'static [u8],
}

/// What is at a path.
pub fn at(path: &str) -> Option<Asset> {
    let (media, body) = match path {
        "/" => ("text/html; charset=utf-8", PAGE),
        "/viewer.js" => ("text/javascript; charset=utf-8", SCRIPT.as_bytes()),
        "/viewer.css" => ("text/css; charset=utf-8", STYLE.as_bytes()),
        _ => return None,
    };
    Some(Asset { media, body })
}

/// Whether there is a viewer.
pub fn built() -> bool {
    !SCRIPT.is_empty()
}
