//! The checker: what must hold in one database, and between headquarters and its stores, whatever happened to them. The
//! invariants I1 to I11, I14 and I15 are listed in `docs/sync.md`; I12 and I13 are about processes and belong to the tests.
//!
//! Reads only, each database from one snapshot, beside running servers or without them. A statement is asked for what does not hold,
//! or read in pages (`pages`): no check holds more of what grows without end than a page.

mod acts;
mod apart;
mod averages;
mod book_sums;
mod books;
mod chains;
mod codes;
mod controls;
mod derived;
mod documents;
mod drawers;
mod finding;
mod flags;
mod heads;
mod kept;
mod left_here;
mod left_out;
mod levels;
mod logged;
mod movements;
mod numbers;
mod outbox;
mod pages;
mod people;
mod refunded;
mod replica;
mod rule;
mod rules;
mod runs;
mod second;
mod series;
mod source;
mod sums;
mod unapplied;
mod zz;
mod zz_sums;

use std::future::Future;
use std::pin::Pin;

use sea_orm::DbErr;

use finding::Found;
pub use finding::{Acknowledged, Finding, Options, Verifiers};
pub use left_out::{LeftOut, left_out};
pub use source::Source;

type Done<'a> = Pin<Box<dyn Future<Output = Result<(), DbErr>> + Send + 'a>>;

/// A check of one database.
struct One {
    invariant: &'static str,
    run: for<'a> fn(&'a Source, &'a Options, &'a mut Found) -> Done<'a>,
}

/// A check of a store, beside headquarters when that is there.
struct Pair {
    invariant: &'static str,
    run: for<'a> fn(&'a Source, Option<&'a Source>, &'a Options, &'a mut Found) -> Done<'a>,
}

const ONE: &[One] = &[
    One { invariant: "I4 I5", run: |source, options, found| Box::pin(rules::fixed(source, options, found)) },
    One { invariant: "I4", run: |source, _, found| Box::pin(averages::replayed(source, found)) },
    One { invariant: "I8", run: |source, _, found| Box::pin(rules::versions(source, found)) },
    One { invariant: "I9", run: |source, _, found| Box::pin(rules::flags(source, found)) },
    One { invariant: "I5", run: |source, _, found| Box::pin(flags::borne_out(source, found)) },
    One { invariant: "I5", run: |source, options, found| Box::pin(books::reports(source, options, found)) },
    One { invariant: "I5", run: |source, _, found| Box::pin(apart::movements(source, found)) },
    One { invariant: "I5", run: |source, _, found| Box::pin(zz_sums::reports(source, found)) },
    One { invariant: "I6", run: |source, options, found| Box::pin(zz::numbers(source, options, found)) },
    One { invariant: "I6", run: |source, _, found| Box::pin(numbers::twice(source, found)) },
    One { invariant: "I6", run: |source, options, found| Box::pin(series::last(source, options, found)) },
    One { invariant: "I7", run: |source, _, found| Box::pin(derived::columns(source, found)) },
    One { invariant: "I7", run: |source, _, found| Box::pin(kept::verifiers(source, found)) },
    One { invariant: "I14", run: |source, _, found| Box::pin(codes::once(source, found)) },
    One { invariant: "I15", run: |source, _, found| Box::pin(chains::whole(source, found)) },
    One { invariant: "I11", run: |source, _, found| Box::pin(acts::chain(source, found)) },
    One { invariant: "I11", run: |source, _, found| Box::pin(acts::rows(source, found)) },
];

const PAIR: &[Pair] = &[
    Pair { invariant: "I1", run: |store, _, options, found| Box::pin(documents::acknowledged(store, options, found)) },
    Pair { invariant: "I2", run: |store, hq, options, found| Box::pin(documents::arrived(store, hq, options, found)) },
    Pair { invariant: "I4", run: |store, hq, options, found| Box::pin(levels::equal(store, hq, options, found)) },
    Pair { invariant: "I6", run: |store, hq, _, found| Box::pin(numbers::holes(store, hq, found)) },
    Pair { invariant: "I7", run: |store, hq, options, found| Box::pin(replica::equal(store, hq, options, found)) },
    Pair { invariant: "I11", run: |store, hq, options, found| Box::pin(heads::known(store, hq, options, found)) },
    Pair { invariant: "I15", run: |store, hq, options, found| Box::pin(chains::at_both(store, hq, options, found)) },
    Pair { invariant: "I9", run: |store, hq, options, found| Box::pin(outbox::gapless(store, hq, options, found)) },
];

/// As [`run`], of one invariant alone: codes that more than one product has.
pub async fn codes(source: &Source) -> Result<Vec<Finding>, DbErr> {
    let mut found = Found::new("I14");
    codes::once(source, &mut found).await?;
    Ok(found.findings)
}

/// Everything that does not hold in these databases. Headquarters is read before its stores.
pub async fn run(hq: Option<&Source>, stores: &[Source], options: &Options) -> Result<Vec<Finding>, DbErr> {
    let mut all = Vec::new();
    for source in hq.into_iter().chain(stores) {
        for check in ONE {
            let mut found = Found::new(check.invariant);
            (check.run)(source, options, &mut found).await?;
            all.append(&mut found.findings);
        }
    }
    for store in stores {
        for check in PAIR {
            let mut found = Found::new(check.invariant);
            (check.run)(store, hq, options, &mut found).await?;
            all.append(&mut found.findings);
        }
    }
    Ok(all)
}
