//! Recovery codes: on paper, for whoever has lost the rest. Each is good once.

use uuid::Uuid;

use crate::auth::Auth;
use crate::error::Result;
use crate::files;

/// Codes that a user gets at once.
const CODES: usize = 10;
/// Characters of one, five bits each.
const LENGTH: usize = 12;
/// Without what is read for something else.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// New codes as they are shown once, and as the database keeps them.
pub(super) fn made(auth: &Auth, user_id: Uuid) -> Result<(Vec<String>, Vec<String>)> {
    let codes: Vec<String> = (0..CODES).map(|_| made_one()).collect();
    let hashes = codes.iter().map(|code| auth.pins.recovery_hash(user_id, &plain(code))).collect::<Result<_>>()?;
    Ok((codes, hashes))
}

fn made_one() -> String {
    let letters = files::random::<LENGTH>().map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
    letters.chunks(4).map(|part| part.iter().collect::<String>()).collect::<Vec<_>>().join("-")
}

/// A code without what people add or mistake when they type it.
pub(super) fn plain(typed: &str) -> String {
    let letters = typed.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase);
    let meant = |letter| match letter {
        'o' => '0',
        'i' | 'l' => '1',
        other => other,
    };
    letters.map(meant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_as_people_type_it() {
        let code = made_one();
        assert_eq!((code.len(), code.split('-').count()), (LENGTH + 2, 3));
        assert_eq!(plain(&code.to_uppercase().replace('-', " ")), plain(&code));
        assert_eq!(plain(" OIL0-11ab "), "01101 1ab".replace(' ', ""));
    }
}
