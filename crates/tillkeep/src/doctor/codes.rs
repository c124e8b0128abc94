//! Codes that a user scans or types, each of which means one product (I14 of `tillkeep verify`).

use std::sync::Arc;

use tillkeep_storage::Side;
use tillkeep_storage::verify::{self, Source};

use super::finding::{Checked, ok, warning};
use super::installation::Installation;

/// Findings that are said at the most.
const MOST: usize = 5;

pub async fn once(at: Arc<Installation>) -> Checked {
    let source = Source::new(at.tables()?, at.side).await?;
    let twins = verify::codes(&source).await?;
    if twins.is_empty() {
        return Ok(vec![ok("each SKU and each barcode is that of one product")]);
    }
    let remedy = match at.side {
        Side::Hq => "give all but one of them another code (page Products)",
        Side::Store => "give all but one of them another code at headquarters; the store pulls it",
    };
    let said = twins.iter().take(MOST).map(|twin| warning(format!("product {}: {}", twin.id, twin.text), remedy));
    let mut found: Vec<_> = said.collect();
    if twins.len() > MOST {
        let more = format!("and {} more of this kind", twins.len() - MOST);
        found.push(warning(more, "`tillkeep verify` names all of them, as I14"));
    }
    Ok(found)
}
