#!/bin/sh
# Installs checkrein and checkrein-hook from a release: fetches the archive for this machine, compares its SHA-256, and puts both
# programs into ~/.local/bin. Nothing else is changed; `checkrein init` then guards a project.
#
#   sh install.sh [--version VERSION] [--to DIR] [--from URL|DIR]
set -eu

page=https://github.com/checkrein/checkrein/releases
version= from= to=${XDG_BIN_HOME:-$HOME/.local/bin}

fail() {
  printf 'error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --version | --to | --from)
      [ $# -ge 2 ] || fail "$1 needs a value"
      case $1 in --version) version=${2#v} ;; --to) to=$2 ;; --from) from=$2 ;; esac
      shift 2 ;;
    -h | --help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "$1 is not known" "sh install.sh [--version VERSION] [--to DIR] [--from URL|DIR]" ;;
  esac
done

case $(uname -s) in
  Linux) system=unknown-linux-musl ;;
  Darwin) system=apple-darwin ;;
  *) fail "there is no release for $(uname -s) yet" "there is one for Linux and one for macOS" ;;
esac
case $(uname -m) in
  x86_64 | amd64) target=x86_64-$system ;;
  aarch64 | arm64) target=aarch64-$system ;;
  *) fail "there is no release for $(uname -m)" "it can be built: see the README" ;;
esac

if [ -z "$from" ]; then
  if [ -n "$version" ]; then from=$page/download/v$version; else from=$page/latest/download; fi
fi

fetch() { # NAME: into the folder for it
  case $from in
    http://* | https://*)
      if command -v curl >/dev/null; then
        curl --proto '=https,http' --tlsv1.2 -fsSL "$from/$1" -o "$folder/$1"
      elif command -v wget >/dev/null; then
        wget -q "$from/$1" -O "$folder/$1"
      else
        fail "neither curl nor wget is here"
      fi ;;
    *) cp "${from#file://}/$1" "$folder/$1" ;;
  esac || fail "cannot fetch $from/$1"
}

sum() { # FILE
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

fetch SHA256SUMS
# The newest release says itself which version it is.
line=$(grep -E "  checkrein-[0-9][^ /]*-$target\.tar\.gz\$" "$folder/SHA256SUMS") || fail "the release has no archive for $target"
[ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "the release has several archives for $target"
wanted=${line%% *} archive=${line##* }
fetch "$archive"
[ "$(sum "$folder/$archive")" = "$wanted" ] || fail "the sum of $archive is not the one that the release names" "nothing was installed; try again"

mkdir "$folder/unpacked"
tar xzf "$folder/$archive" -C "$folder/unpacked" --strip-components=1
mkdir -p "$to"
for name in checkrein-hook checkrein; do
  [ -f "$folder/unpacked/$name" ] || fail "$archive holds no $name"
  # A running hook must never see half a program: copy beside, then rename.
  cp "$folder/unpacked/$name" "$to/.$name.$$"
  chmod 755 "$to/.$name.$$"
  mv "$to/.$name.$$" "$to/$name"
  printf 'installed %s\n' "$to/$name"
done
case :$PATH: in
  *:"$to":*) ;;
  *) printf 'note: %s is not on PATH\n' "$to" ;;
esac
printf 'next: run `checkrein init` in the project that your agent works in\n'
