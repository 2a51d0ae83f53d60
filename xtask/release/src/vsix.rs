//! The extension for VS Code: a zip archive with the files of `packaging/vscode` and two that say what it is.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use flate2::Crc;
use serde_json::Value as Json;
use xtask::root;

use crate::{Release, told};

/// The files of the extension; what else lies beside them is not packed.
const FILES: [(&str, &str); 4] = [
    ("package.json", "application/json"),
    ("extension.js", "application/javascript"),
    ("icon.svg", "image/svg+xml"),
    ("README.md", "text/markdown"),
];

/// Writes `checkrein-VERSION.vsix`; the same files make the same bytes.
pub(crate) fn extension(release: &Release) -> Result<PathBuf, String> {
    let folder = root().join("packaging/vscode");
    let read = |path: PathBuf| fs::read(&path).map_err(told(&path));
    let mut entries: Vec<(String, Vec<u8>)> = Vec::new();
    let about = read(folder.join("package.json"))?;
    let about: Json = serde_json::from_slice(&about).map_err(|error| format!("package.json: {error}"))?;
    if about["version"] != release.version.as_str() {
        return Err(format!("packaging/vscode/package.json is not of version {}", release.version));
    }
    entries.push(("extension.vsixmanifest".to_owned(), manifest(&about).into_bytes()));
    entries.push(("[Content_Types].xml".to_owned(), content_types().into_bytes()));
    for (name, _) in FILES {
        entries.push((format!("extension/{name}"), read(folder.join(name))?));
    }
    entries.push(("extension/LICENSE.txt".to_owned(), read(root().join("LICENSE-MIT"))?));
    let path = release.folder.join(format!("checkrein-{}.vsix", release.version));
    fs::write(&path, zip(&entries)?).map_err(told(&path))?;
    Ok(path)
}

/// What the editor and its shop read before they unpack.
fn manifest(about: &Json) -> String {
    let text = |name: &str| escaped(about[name].as_str().unwrap_or_default());
    format!(
        r#"<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="{name}" Version="{version}" Publisher="{publisher}"/>
    <DisplayName>{title}</DisplayName>
    <Description xml:space="preserve">{description}</Description>
    <Categories>Other</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="{engine}"/>
      <Property Id="Microsoft.VisualStudio.Services.Links.Source" Value="{page}"/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
"#,
        name = text("name"),
        version = text("version"),
        publisher = text("publisher"),
        title = text("displayName"),
        description = text("description"),
        engine = escaped(about["engines"]["vscode"].as_str().unwrap_or_default()),
        page = env!("CARGO_PKG_REPOSITORY"),
    )
}

/// The type of each ending in the archive.
fn content_types() -> String {
    let ending = |name: &'static str| Path::new(name).extension().unwrap_or_default().to_string_lossy();
    let mut types = String::new();
    for (name, kind) in FILES {
        let _ = write!(types, r#"<Default Extension=".{}" ContentType="{kind}"/>"#, ending(name));
    }
    types.push_str(r#"<Default Extension=".vsixmanifest" ContentType="text/xml"/>"#);
    types.push_str(r#"<Default Extension=".txt" ContentType="text/plain"/>"#);
    format!(
        r#"<?xml version="1.0" encoding="utf-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{types}</Types>"#
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The first day that the format can name, 1980-01-01: what is packed carries no time.
const NO_DAY: u16 = 0x21;

/// A zip archive of these files, stored as they are (APPNOTE 6.3.9): they are a few kilobytes.
fn zip(entries: &[(String, Vec<u8>)]) -> Result<Vec<u8>, String> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in entries {
        let mut crc = Crc::new();
        crc.update(bytes);
        let length = short(bytes.len())?;
        let place = short(archive.len())?;
        let mut common = Vec::new();
        // Version 2.0, names in UTF-8, stored.
        for number in [0x14_u16, 0x0800, 0, 0, NO_DAY] {
            common.extend(number.to_le_bytes());
        }
        for number in [crc.sum(), length, length] {
            common.extend(number.to_le_bytes());
        }
        let name_length = u16::try_from(name.len()).map_err(|error| error.to_string())?;
        common.extend(name_length.to_le_bytes());
        common.extend(0_u16.to_le_bytes());
        archive.extend(b"PK\x03\x04");
        archive.extend(&common);
        archive.extend(name.as_bytes());
        archive.extend(bytes);
        // Made on Unix, where the rights are those of a file that everybody reads.
        directory.extend(b"PK\x01\x02");
        directory.extend((3_u16 << 8 | 0x14).to_le_bytes());
        directory.extend(&common);
        for number in [0_u16, 0, 0] {
            directory.extend(number.to_le_bytes());
        }
        directory.extend((0o100_644_u32 << 16).to_le_bytes());
        directory.extend(place.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, length) = (short(archive.len())?, short(directory.len())?);
    let count = u16::try_from(entries.len()).map_err(|error| error.to_string())?;
    archive.extend(directory);
    archive.extend(b"PK\x05\x06");
    for number in [0, 0, count, count] {
        archive.extend(number.to_le_bytes());
    }
    archive.extend(length.to_le_bytes());
    archive.extend(start.to_le_bytes());
    archive.extend(0_u16.to_le_bytes());
    Ok(archive)
}

/// A length or a place as the format holds it.
fn short(number: usize) -> Result<u32, String> {
    u32::try_from(number).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn python(script: &str, path: &Path) -> Option<String> {
        let output = Command::new("python3").args(["-c", script]).arg(path).output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8(output.stdout).unwrap())
    }

    /// Another program reads the archive, finds the checksums right and both descriptions to be XML.
    #[test]
    fn another_program_reads_the_archive() {
        let folder = tempfile::tempdir().unwrap();
        let release = Release {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            time: 0,
            folder: folder.path().to_owned(),
        };
        let path = extension(&release).unwrap();
        let script = "
import sys, zipfile, json
import xml.dom.minidom as xml
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
for name in ['extension.vsixmanifest', '[Content_Types].xml']:
    xml.parseString(archive.read(name))
about = json.loads(archive.read('extension/package.json'))
print('\\n'.join(sorted(archive.namelist())))
print(about['main'], oct(archive.infolist()[0].external_attr >> 16))
";
        let Some(said) = python(script, &path) else {
            checkrein_testkit::not_run("Python is not here");
            return;
        };
        assert_eq!(
            said.lines().collect::<Vec<_>>(),
            [
                "[Content_Types].xml",
                "extension.vsixmanifest",
                "extension/LICENSE.txt",
                "extension/README.md",
                "extension/extension.js",
                "extension/icon.svg",
                "extension/package.json",
                "./extension.js 0o100644",
            ]
        );
        assert_eq!(fs::read(&path).unwrap(), fs::read(extension(&release).unwrap()).unwrap());
        let other = Release { version: "9.9.9".to_owned(), ..release };
        assert!(extension(&other).is_err(), "another version is another release");
    }
}
