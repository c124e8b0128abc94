//! Stores with registers that no till is enrolled for: what is typed there is counted by its address, with everything else behind it.

use tillkeep_http::error::Result;
use tillkeep_storage::tills;

use super::{Asked, Notice, OfStore};

const KIND: &str = "registers_without_till";

pub(super) async fn find(asked: &Asked<'_>) -> Result<Vec<Notice>> {
    let scope = asked.caller.stores();
    let mut without = tills::stores_without(asked.caller.reader()).await?;
    without.retain(|(id, ..)| scope.as_ref().is_none_or(|stores| stores.contains(id)));
    if without.is_empty() {
        return Ok(Vec::new());
    }
    let registers: i64 = without.iter().map(|(_, _, registers)| registers).sum();
    let which = match registers {
        1 => "One register of these stores has".to_owned(),
        more => format!("{more} registers of these stores have"),
    };
    let text = format!(
        "{which} no enrolled till: a person who types wrong PINs in the network of such a shop makes \
         all of its people wait. Whoever runs the shop enrols each till there."
    );
    let stores: Vec<OfStore> = without.into_iter().map(|(id, code, _)| OfStore { id, code }).collect();
    Ok(vec![Notice { kind: KIND, at: asked.caller.now(), count: Some(stores.len()), users: Vec::new(), stores, text }])
}
