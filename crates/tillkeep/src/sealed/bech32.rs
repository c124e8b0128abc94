//! Keys as text: Bech32 (BIP 173), which notices what was mistyped.

const LETTERS: &str = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATORS: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
/// Letters of the sum at the end.
const SUM: usize = 6;

/// The 32 bytes of a key that begins with `name` and a 1; `None` when a letter is wrong. All letters are of one case.
pub(super) fn decode(name: &str, text: &str) -> Option<[u8; 32]> {
    let small = text.to_ascii_lowercase();
    if text != small && text != text.to_ascii_uppercase() {
        return None;
    }
    let values = small.strip_prefix(name)?.strip_prefix('1')?;
    let values: Vec<u8> = values.chars().map(|letter| LETTERS.find(letter)?.try_into().ok()).collect::<Option<_>>()?;
    let high = name.bytes().map(|byte| byte >> 5);
    let low = name.bytes().map(|byte| byte & 31);
    if sum(high.chain([0]).chain(low).chain(values.iter().copied())) != 1 {
        return None;
    }
    bytes(values.get(..values.len().checked_sub(SUM)?)?)
}

fn sum(values: impl Iterator<Item = u8>) -> u32 {
    values.fold(1, |sum, value| {
        let top = sum >> 25;
        let shifted = ((sum & 0x01ff_ffff) << 5) ^ u32::from(value);
        let chosen = GENERATORS.iter().enumerate().filter(|(bit, _)| (top >> bit) & 1 == 1);
        chosen.fold(shifted, |sum, (_, generator)| sum ^ generator)
    })
}

/// Groups of five bits as bytes. What is left over has to be nothing.
fn bytes(values: &[u8]) -> Option<[u8; 32]> {
    let (mut found, mut waiting, mut bits) = (Vec::with_capacity(32), 0_u32, 0_u32);
    for value in values {
        waiting = (waiting << 5) | u32::from(*value);
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            found.push(u8::try_from(waiting >> bits).ok()?);
            waiting &= (1 << bits) - 1;
        }
    }
    if bits >= 5 || waiting != 0 {
        return None;
    }
    found.try_into().ok()
}
