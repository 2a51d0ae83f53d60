//! The archive that `install.sh`, Homebrew and `cargo binstall` unpack.

use std::fs::File;
use std::path::PathBuf;

use flate2::Compression;
use flate2::GzBuilder;
use tar::{Builder, Header};

use crate::contents::Contents;
use crate::targets::Target;
use crate::{Release, told};

/// Writes `checkrein-VERSION-TARGET.tar.gz`; the same commit makes the same bytes.
pub(crate) fn archive(release: &Release, target: Target, contents: &Contents) -> Result<PathBuf, String> {
    let name = format!("checkrein-{}-{}", release.version, target.triple);
    let path = release.folder.join(format!("{name}.tar.gz"));
    let file = File::create(&path).map_err(told(&path))?;
    // Its own time is left out, as it is in `gzip -n`.
    let mut archive = Builder::new(GzBuilder::new().mtime(0).write(file, Compression::best()));
    for entry in &contents.entries {
        let mut header = Header::new_gnu();
        header.set_size(entry.bytes.len() as u64);
        header.set_mode(entry.kind.mode());
        header.set_mtime(release.time);
        archive
            .append_data(&mut header, format!("{name}/{}", entry.name), entry.bytes.as_slice())
            .map_err(told(&path))?;
    }
    let compressed = archive.into_inner().map_err(told(&path))?;
    compressed.finish().map_err(told(&path))?;
    Ok(path)
}
