//! What JSON takes in memory once it is read into rows. Too much is better than too little: who sends a list of a thousand empty
//! objects in a few bytes gets no more memory than others.

/// What an object takes, a list and each value in them, in a column that keeps JSON.
const OBJECT: usize = 640;
const LIST: usize = 128;
const VALUE: usize = 32;

/// What was read of `json` takes beside the fixed parts of its rows: so many `rows`, in which so many `keys` were sent.
pub(super) fn of(json: &str, rows: usize, keys: usize) -> usize {
    let count = |wanted: u8| json.bytes().filter(|byte| *byte == wanted).count();
    // What is no row, nor a key of one, stands in a column that keeps it as it is.
    let objects = count(b'{').saturating_sub(rows);
    let values = count(b',').saturating_sub(keys);
    // No text of a row is longer than it was sent.
    json.len() + OBJECT * objects + LIST * count(b'[') + VALUE * values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_column_keeps_of_json_weighs_more_than_its_text() {
        // Two rows of three keys in all.
        let plain = r#"{"note":"none","saleItems":[{"lineNo":1}]}"#;
        assert_eq!(of(plain, 2, 3), plain.len() + LIST);
        let more = r#"{"approvals":[{"a":1},{"a":1}],"saleItems":[{"lineNo":1}]}"#;
        assert_eq!(of(more, 2, 3), more.len() + 2 * LIST + 2 * OBJECT);
        let numbers = format!(r#"{{"approvals":[{}]}}"#, vec!["0"; 101].join(","));
        assert_eq!(of(&numbers, 1, 1), numbers.len() + LIST + 99 * VALUE);
    }
}
