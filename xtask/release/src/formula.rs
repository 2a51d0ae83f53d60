//! The formula for Homebrew.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::sums::sum;
use crate::targets::Target;
use crate::{Release, told};

/// Writes `checkrein.rb`, which names each archive with its sum.
pub(crate) fn formula(release: &Release, archives: &[(Target, PathBuf)]) -> Result<PathBuf, String> {
    let page = env!("CARGO_PKG_REPOSITORY");
    let mut blocks = String::new();
    for system in ["linux", "macos"] {
        let of_it: Vec<_> =
            archives.iter().filter(|(target, _)| target.system.homebrew() == system).collect();
        if of_it.is_empty() {
            continue;
        }
        let _ = writeln!(blocks, "  on_{system} do");
        for (target, archive) in of_it {
            let name = archive.file_name().unwrap_or_default().to_string_lossy();
            let _ = write!(
                blocks,
                "    on_{} do\n      url \"{page}/releases/download/v{}/{name}\"\n      sha256 \"{}\"\n    end\n",
                target.homebrew,
                release.version,
                sum(archive)?,
            );
        }
        blocks.push_str("  end\n\n");
    }
    let text = format!(
        "class Checkrein < Formula\n  desc \"Safety layer for coding agents\"\n  homepage \"{page}\"\n  version \"{version}\"\n  license any_of: [\"MIT\", \"Apache-2.0\"]\n\n{blocks}  def install\n    bin.install \"checkrein\", \"checkrein-hook\"\n    man1.install Dir[\"man/*.1\"]\n    bash_completion.install \"completions/checkrein.bash\" => \"checkrein\"\n    zsh_completion.install \"completions/_checkrein\"\n    fish_completion.install \"completions/checkrein.fish\"\n  end\n\n  test do\n    assert_match version.to_s, shell_output(\"#{{bin}}/checkrein --version\")\n    shell_output(\"#{{bin}}/checkrein check 'rm -rf ~'\", 2)\n  end\nend\n",
        version = release.version,
    );
    let path = release.folder.join("checkrein.rb");
    fs::write(&path, text).map_err(told(&path))?;
    Ok(path)
}
