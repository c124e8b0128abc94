//! The checker over the databases of a test.

use std::path::Path;

use tillkeep_http::Clock;
use tillkeep_http::pins::Pins;
use tillkeep_storage::Side;
use tillkeep_storage::verify::{self, Finding, Options, Source, Verifiers};

/// What the secrets in the data directory of headquarters make of its PINs.
pub fn verifiers(dir: &Path) -> Option<Verifiers> {
    let path = dir.join("pin.key");
    let pins = path.exists().then(|| Pins::open(&path, 1).expect("the key of PINs"))?;
    Some(Verifiers::new(move |store, hash| pins.derived(store, hash)))
}

/// What does not hold, by the addresses of the databases.
pub async fn look(hq: Option<&str>, stores: &[String], mut options: Options) -> Vec<Finding> {
    options.now = options.now.or_else(|| Some(Clock::default().now()));
    let hq = match hq {
        Some(url) => Some(Source::open(url, Side::Hq).await.expect("the database of headquarters")),
        None => None,
    };
    let mut sources = Vec::new();
    for url in stores {
        sources.push(Source::open(url, Side::Store).await.expect("the database of a store"));
    }
    verify::run(hq.as_ref(), &sources, &options).await.expect("a verdict")
}

/// As [`look`], where nothing can be awaited.
pub fn now(hq: Option<&str>, stores: &[String], options: Options) -> Vec<Finding> {
    let (hq, stores) = (hq.map(str::to_owned), stores.to_vec());
    let looking = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(look(hq.as_deref(), &stores, options))
    });
    looking.join().expect("the checker")
}

/// One line each, the first ones.
pub fn list(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings.iter().take(20).map(ToString::to_string).collect();
    format!("{}\n({} in all)", lines.join("\n"), findings.len())
}
