//! The files are there before they are embedded, and whenever they are others the crate is compiled again.

use std::path::Path;

const BUILT: &str = "../../web/dist";

fn main() {
    println!("cargo::rerun-if-changed={BUILT}");
    // Both of `vite build` and of what compresses its files: each entry has a page.
    for file in ["assets", "index.html.gz", "till.html.gz", "store.html.gz"] {
        if !Path::new(BUILT).join(file).exists() {
            println!("cargo::error=web/dist is missing: run `make web` ({file} is not there)");
            return;
        }
    }
}
