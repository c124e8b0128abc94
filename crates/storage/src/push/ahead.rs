//! What was sent is read into rows before the transaction that takes it begins, as far as that may be in memory: what is read
//! then keeps nobody from the database. `docs/sync.md`, rule U5.

use super::pause::Pause;
use crate::envelope::{Incoming, Shape};

/// Pushes that may be at a database server at once.
const AT_A_SERVER: usize = 4;
/// Those of a file: one is written, and two are read meanwhile.
const AT_A_FILE: usize = 3;
/// What the rows of one push may take in memory: those of a thousand sales, with something to spare.
pub(super) const ROOM: usize = 20 << 20;

/// Pushes of which rows may be in memory at once, by whether the database is a file.
#[must_use]
pub const fn at_once(embedded: bool) -> usize {
    if embedded { AT_A_FILE } else { AT_A_SERVER }
}

/// Reads `waves` in their order until there is no more `room`. What is not whole is the last that is begun: the rest of it is read
/// when those before it are gone.
pub(super) async fn read_waves(waves: &[Vec<Incoming<'_>>], mut room: usize) {
    for wave in waves {
        let (count, weight) = read(wave, room).await;
        room = room.saturating_sub(weight);
        if count < wave.len() || room == 0 {
            return;
        }
    }
}

/// Reads of `wave` what fits into `room`, and one envelope in any case: how many that are, and about what they take in memory.
pub(super) async fn read(wave: &[Incoming<'_>], room: usize) -> (usize, usize) {
    let (mut count, mut total) = (0, 0);
    let mut pause = Pause::default();
    for envelopes in wave.chunk_by(|a, b| a.entity.name == b.entity.name) {
        let Some(Incoming { entity, pushed, .. }) = envelopes.first() else { continue };
        let shape = Shape::new(entity, pushed);
        for incoming in envelopes {
            pause.after(incoming.data.len()).await;
            let weight = incoming.decode_ahead(&shape);
            if count > 0 && total + weight > room {
                incoming.forget();
                return (count, total);
            }
            count += 1;
            total += weight;
        }
    }
    (count, total)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::entity::{chain_entry, sale, sale_item, sale_payment};
    use crate::envelope::{self, Sender};

    fn envelope(data: &str) -> String {
        format!(
            r#"{{"store_id": "{0}", "entity_type": "sales", "entity_id": "{0}", "action": "create",
                 "timestamp": "2026-11-20T12:00:00Z", "data": {data}}}"#,
            Uuid::nil()
        )
    }

    fn wave<'a>(sent: impl IntoIterator<Item = &'a String>) -> Vec<Incoming<'a>> {
        let sender = Sender::of_store(Uuid::nil(), "S01".to_owned());
        let sent = sent.into_iter().enumerate();
        sent.filter_map(|(index, raw)| envelope::read(index, raw, &sender).ok()).collect()
    }

    /// A sale as a store sends it, with all its columns, three lines, a payment and its place in the chain.
    fn usual() -> String {
        let mut data = json!(sale::Model::default());
        data["saleItems"] = json!(vec![sale_item::Model::default(); 3]);
        data["salePayments"] = json!([sale_payment::Model::default()]);
        data["chainEntries"] = json!([chain_entry::Model::default()]);
        let data = data.to_string();
        let (begins, rest) = data.split_at(1);
        format!("{begins}{}{rest}", " ".repeat(5800_usize.saturating_sub(data.len())))
    }

    #[tokio::test]
    async fn a_thousand_usual_sales_are_read_whole_before_a_transaction_begins() {
        let sale = envelope(&usual());
        let wave = wave(std::iter::repeat_n(&sale, 1000));
        let (count, weight) = read(&wave, ROOM).await;
        assert_eq!((count, wave.len()), (1000, 1000), "{weight}");
        assert!(weight > 1000 * (5800 + size_of::<sale::Model>()), "{weight}: rows take more than their text");
    }

    #[tokio::test]
    async fn what_unfolds_to_much_is_read_as_far_as_there_is_room_and_one_envelope_in_any_case() {
        let lines = vec!["{}"; 1000].join(",");
        let (light, heavy) = (envelope("{}"), envelope(&format!(r#"{{"saleItems": [{lines}]}}"#)));
        let (_, small) = read(&wave([&light]), usize::MAX).await;
        let (_, large) = read(&wave([&heavy]), usize::MAX).await;
        assert!(large > 1000 * size_of::<sale_item::Model>(), "{large}");
        let wave = wave([&light, &heavy, &light, &heavy, &light]);
        assert_eq!(read(&wave, 2 * small + large).await, (3, 2 * small + large));
        assert_eq!(read(&wave[3..], 1).await, (1, large));
        assert_eq!(read(&wave, usize::MAX).await, (5, 3 * small + 2 * large));
        assert_eq!(read(&[], usize::MAX).await, (0, 0));
    }
}
