#!/bin/sh
# Installs checkrein and checkrein-hook from a release: fetches the archive for this machine, compares its SHA-256, lets both programs
# say their version, and puts both into ~/.local/bin, or neither. Nothing else is changed; `checkrein init` then guards a project.
set -eu
unset CDPATH

page=https://github.com/checkrein/checkrein/releases
usage='install.sh [--version VERSION] [--to DIR] [--from URL|DIR] [--allow-downgrade]'

help() {
  cat <<EOT
Installs checkrein and checkrein-hook from a release.

Usage: sh $usage
       curl -fsSL $page/latest/download/install.sh | sh -s -- [OPTIONS]

  --version VERSION  this release (default: the newest)
  --to DIR           put the programs into DIR (default: ~/.local/bin)
  --from URL|DIR     take the release that lies there; a URL begins with https://
  --allow-downgrade  also replace newer programs
EOT
}

fail() {
  printf 'error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
  exit 1
}

fetch() { # NAME: into the folder for it
  case $from in
    https://*)
      # No settings of the user (-q), no other scheme, also where the server sends us on.
      curl -q --proto '=https' --proto-redir '=https' --tlsv1.2 --connect-timeout 30 --max-time 900 --max-filesize 200000000 \
        -fsSL "$from/$1" -o "$folder/$1" ;;
    *) cp "${from#file://}/$1" "$folder/$1" ;;
  esac || fail "cannot fetch $from/$1" "nothing was installed"
}

sum() { # FILE
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

is_older() { # VERSION OTHER
  awk -v one="$1" -v other="$2" 'BEGIN {
    split(one, a, /[-+]/); split(other, b, /[-+]/)
    split(a[1], m, "."); split(b[1], n, ".")
    for (i = 1; i <= 3; i++) if (m[i] + 0 != n[i] + 0) exit !(m[i] + 0 < n[i] + 0)
    # A release candidate is older than the release, and two of them are compared as text.
    early = index(one, "-"); late = index(other, "-")
    if (early && late) exit !(one "" < other "")
    exit !(early && !late)
  }'
}

version_of() { # PROGRAM: the version that it says, or nothing
  "$1" --version </dev/null 2>/dev/null | awk -v name="${1##*/}" 'NR == 1 && $1 == name { print $2 }'
}

# What stood there before comes back when anything fails between the two renames.
finish() {
  if [ -n "$replacing" ]; then
    for name in checkrein-hook checkrein; do
      if [ -e "$staged/before/$name" ] || [ -L "$staged/before/$name" ]; then
        mv -f "$staged/before/$name" "$to/$name" || printf 'error: %s could not be put back; it is %s\n' "$to/$name" "$staged/before/$name" >&2
      else
        rm -f "$to/$name"
      fi
    done
    printf 'error: %s\nhint: both programs are as they were before\n' "the programs in $to could not be replaced" >&2
  fi
  [ -z "$folder" ] || rm -rf "$folder"
  # What could not be put back stays.
  [ -z "$staged" ] || rm -rf "$staged/new"
  [ -z "$staged" ] || rmdir "$staged/before" "$staged" 2>/dev/null || { [ -n "$replacing" ] || rm -rf "$staged"; }
}

main() {
  version= from= to=${XDG_BIN_HOME:-$HOME/.local/bin} downgrade=
  folder= staged= replacing=
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --to | --from)
        [ $# -ge 2 ] && [ -n "$2" ] || fail "$1 needs a value" "$usage"
        case $1 in --version) version=${2#v} ;; --to) to=$2 ;; --from) from=$2 ;; esac
        shift 2 ;;
      --allow-downgrade) downgrade=yes; shift ;;
      -h | --help) help; exit 0 ;;
      *) fail "$1 is not known" "$usage" ;;
    esac
  done
  case $version in *[!0-9A-Za-z.+-]*) fail "$version is not a version" "write it as 1.2.3" ;; esac
  case $from in
    '' | https://* | file://*) ;;
    *://*) fail "$from is not fetched: what it sends could be changed on the way" "an address begins with https://; a folder is named by its path" ;;
  esac

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
  case $from in
    https://*) command -v curl >/dev/null || fail "curl is not here" "fetch the release by other means, and name its folder with --from DIR" ;;
  esac

  folder=$(mktemp -d)
  trap finish EXIT
  trap 'exit 1' HUP INT TERM

  case $from in
    https://*) ;;
    *)
      if [ ! -f "${from#file://}/SHA256SUMS" ]; then
        fail "$from holds no SHA256SUMS" "fetch it from the same release as the archive; in a folder of your own archives, \`sha256sum checkrein-*.tar.gz > SHA256SUMS\` makes it"
      fi ;;
  esac
  fetch SHA256SUMS
  # The newest release says itself which version it is.
  found=$(awk -v wanted="$version" -v after="-$target.tar.gz" '
    length($1) == 64 && NF == 2 && substr($2, 1, 10) == "checkrein-" && substr($2, length($2) - length(after) + 1) == after {
      its = substr($2, 11, length($2) - 10 - length(after))
      if (its ~ /^[0-9][0-9A-Za-z.+-]*$/ && (wanted == "" || its == wanted)) print $1, $2, its
    }' "$folder/SHA256SUMS")
  case $(printf '%s' "$found" | grep -c .) in
    0) fail "the release has no archive${version:+ of version $version} for $target" "look at $from/SHA256SUMS" ;;
    1) ;;
    *) fail "the release has several archives for $target" "--version VERSION says which" ;;
  esac
  wanted=${found%% *} version=${found##* } archive=${found#* }
  archive=${archive% *}
  fetch "$archive"
  [ "$(sum "$folder/$archive")" = "$wanted" ] || fail "the sum of $archive is not the one that the release names" "nothing was installed; try again"

  mkdir "$folder/unpacked"
  tar xzf "$folder/$archive" -C "$folder/unpacked" --strip-components=1 || fail "$archive cannot be unpacked" "nothing was installed"

  # Both are complete and have run before either takes its place: beside it, since a rename is whole only within one file system.
  mkdir -p "$to"
  to=$(cd "$to" && pwd)
  staged=$(mktemp -d "$to/.checkrein.XXXXXX")
  mkdir "$staged/new" "$staged/before"
  for name in checkrein-hook checkrein; do
    [ -f "$folder/unpacked/$name" ] || fail "$archive holds no $name" "nothing was installed"
    [ ! -d "$to/$name" ] || [ -L "$to/$name" ] || fail "$to/$name is a folder" "nothing was installed; move it away"
    cp "$folder/unpacked/$name" "$staged/new/$name"
    chmod 755 "$staged/new/$name"
    said=$(version_of "$staged/new/$name")
    [ "$said" = "$version" ] || fail "$name of $archive says version '$said', not $version" "nothing was installed"
  done
  if [ -x "$to/checkrein" ] && [ -z "$downgrade" ]; then
    installed=$(version_of "$to/checkrein")
    if [ -n "$installed" ] && is_older "$version" "$installed"; then
      fail "version $version of the release is older than $installed in $to" "nothing was installed; --allow-downgrade replaces it all the same"
    fi
  fi
  for name in checkrein-hook checkrein; do
    if [ -e "$to/$name" ] || [ -L "$to/$name" ]; then cp -pP "$to/$name" "$staged/before/$name"; fi
  done
  replacing=yes
  mv -f "$staged/new/checkrein-hook" "$to/checkrein-hook"
  mv -f "$staged/new/checkrein" "$to/checkrein"
  replacing=

  for name in checkrein-hook checkrein; do printf 'installed %s (%s)\n' "$to/$name" "$version"; done
  case $from in
    https://*) printf 'note: the SHA-256 came from where the archive came from: it shows damage, not a forged release; `gh attestation verify` on the archive shows who built it\n' ;;
    *) printf 'note: the SHA-256 is that of %s; who put it there was not checked\n' "$from/SHA256SUMS" ;;
  esac
  case :$PATH: in
    *:"$to":*) ;;
    *) printf 'note: %s is not on PATH\n' "$to" ;;
  esac
  printf 'next: run `checkrein init` in the project that your agent works in\n'
}

# Read to the end before anything is done: a script that was cut off on the way does nothing.
main "$@"
