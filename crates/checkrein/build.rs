//! Has the linker put the functions that usual calls of the hook need next to each other; `cargo xtask order` writes the list.

use std::env;
use std::path::Path;

fn main() {
    let script =
        Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../hook/hook-order.ld");
    println!("cargo::rerun-if-changed={}", script.display());
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_of_host = env::var("HOST")
        .is_ok_and(|host| host.split('-').next() == env::var("CARGO_CFG_TARGET_ARCH").ok().as_deref());
    // The list is of the static hook; elsewhere linkers differ, and starting costs far more than this saves. Those that build for other
    // machines take no script.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "musl") && is_of_host {
        println!("cargo::rustc-link-arg-bin=checkrein-hook=-Xlinker");
        println!("cargo::rustc-link-arg-bin=checkrein-hook=--script={}", script.display());
    }
    // At a fixed place nothing has to be relocated: half of what `checkrein` takes to start, and `exec` starts for every contained call.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bin=checkrein=-no-pie");
    }
}
