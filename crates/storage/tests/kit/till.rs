//! Sales as a register makes them, each with its entry in the register's chain.

use serde_json::{Value as Json, json};
use tillkeep_model::Money;
use tillkeep_model::words::ChainKind;
use tillkeep_storage::entity::chain_entry;
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::fiscal;
use uuid::Uuid;

use super::at;
use super::chain::{Chain, id};
use super::envelopes::{Document, create_sale};

/// What a register of `sender` has made.
pub struct Till<'a> {
    pub sender: &'a Sender,
    pub chain: Uuid,
    pub last: chain_entry::Model,
}

impl<'a> Till<'a> {
    pub fn new(sender: &'a Sender, name: &str) -> Self {
        Self { sender, chain: id(name), last: chain_entry::Model::default() }
    }

    /// Puts the next entry into an envelope, behind those that its document has.
    pub fn next(&mut self, envelope: &mut Json, kind: ChainKind) -> chain_entry::Model {
        let document = Document::read(&envelope["data"]);
        let rows = document.rows();
        let total = rows.sale.total_amount.0;
        let mut entry = chain_entry::Model {
            id: Uuid::new_v5(&rows.sale.id, kind.word().as_bytes()),
            sale_id: rows.sale.id,
            store_id: self.sender.store_id,
            line_no: if kind == ChainKind::Void { 2 } else { 1 },
            chain_id: self.chain,
            register_code: "01".into(),
            number: self.last.number + 1,
            kind: kind.word().into(),
            version: 1,
            at: at(self.last.number),
            previous_hash: self.last.hash.clone(),
            follows: None,
            hash: String::new(),
            running_total: Money(self.last.running_total.0 + if kind == ChainKind::Void { -total } else { total }),
        };
        entry.hash = fiscal::hash(&fiscal::line(&entry, &rows, &|id| id));
        self.last = entry.clone();
        with(envelope, &entry);
        entry
    }

    /// So many entries of one sale, one after the other.
    pub fn many(&mut self, envelope: &Json, count: usize) -> Vec<chain_entry::Model> {
        let one = |_| {
            let entry = self.next(&mut envelope.clone(), ChainKind::Sale);
            chain_entry::Model { id: Uuid::new_v5(&self.chain, entry.hash.as_bytes()), ..entry }
        };
        (0..count).map(one).collect()
    }

    pub fn sell(&mut self, chain: &Chain, name: &str, pieces: i64) -> Json {
        let mut envelope = create_sale(self.sender, id(name), &[(chain.tea, pieces)]);
        self.next(&mut envelope, ChainKind::Sale);
        envelope
    }
}

pub fn with(envelope: &mut Json, entry: &chain_entry::Model) {
    let data = envelope["data"].as_object_mut().expect("data");
    data.entry("chainEntries").or_insert_with(|| json!([])).as_array_mut().expect("a list").push(json!(entry));
}
