//! How deep a JSON document is nested, told piece by piece before anything reads it.

use std::slice::Iter;

/// Depth of a JSON document at the most.
pub(crate) const MAX_DEPTH: usize = 64;

/// The bytes that mean something outside of texts: quotes, brackets and commas.
const STRUCTURE: [bool; 256] = {
    let mut structure = [false; 256];
    let (bytes, mut place) = (b"\"{}[],", 0);
    while place < bytes.len() {
        structure[bytes[place] as usize] = true;
        place += 1;
    }
    structure
};

/// Whether a JSON document is nested deeper than any of ours.
pub(crate) fn too_deep(bytes: &[u8]) -> bool {
    let (mut nesting, mut rest) = (Nesting::default(), bytes.iter());
    while nesting.next_mark(&mut rest).is_some() {
        if nesting.is_too_deep() {
            return true;
        }
    }
    false
}

/// How deep a JSON document is nested where it was read to.
#[derive(Default)]
pub struct Nesting {
    depth: usize,
    text: bool,
    escaped: bool,
}

/// A bracket or a comma outside of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub byte: u8,
    /// The depths before it and behind it.
    pub before: usize,
    pub behind: usize,
}

impl Nesting {
    /// Goes on in `rest` behind the next mark; to its end when there is none. Most bytes are in texts or between marks, and are
    /// jumped over.
    #[inline]
    pub fn next_mark(&mut self, rest: &mut Iter<'_, u8>) -> Option<Mark> {
        loop {
            if self.text {
                if self.escaped {
                    rest.next()?;
                    self.escaped = false;
                }
                let Some(end) = memchr::memchr2(b'"', b'\\', rest.as_slice()) else {
                    *rest = [].iter();
                    return None;
                };
                if rest.nth(end) == Some(&b'\\') {
                    self.escaped = true;
                } else {
                    self.text = false;
                }
                continue;
            }
            let byte = *rest.find(|byte| STRUCTURE[usize::from(**byte)])?;
            let before = self.depth;
            match byte {
                b'"' => {
                    self.text = true;
                    continue;
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = before.saturating_sub(1),
                _ => {}
            }
            return Some(Mark { byte, before, behind: self.depth });
        }
    }

    /// Whether that is deeper than any document of ours.
    #[inline]
    pub const fn is_too_deep(&self) -> bool {
        self.depth > MAX_DEPTH
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_nested_document_is_refused_before_it_is_read() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(too_deep(deep(65).as_bytes()));
        assert!(!too_deep(deep(64).as_bytes()));
        assert!(!too_deep(br#"{"a": "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}"#));
    }

    /// Byte by byte, as it is easily seen to be right.
    fn slowly(bytes: &[u8]) -> Vec<Mark> {
        let (mut depth, mut text, mut escaped, mut marks) = (0_usize, false, false, Vec::new());
        for byte in bytes.iter().copied() {
            let before = depth;
            match byte {
                _ if escaped => escaped = false,
                b'\\' if text => escaped = true,
                b'"' => text = !text,
                b'{' | b'[' if !text => depth += 1,
                b'}' | b']' if !text => depth = depth.saturating_sub(1),
                _ => {}
            }
            if !text && b"{}[],".contains(&byte) {
                marks.push(Mark { byte, before, behind: depth });
            }
        }
        marks
    }

    fn in_pieces<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Mark> {
        let (mut nesting, mut marks) = (Nesting::default(), Vec::new());
        for piece in pieces {
            let mut rest = piece.iter();
            marks.extend(std::iter::from_fn(|| nesting.next_mark(&mut rest)));
            assert!(rest.as_slice().is_empty(), "all of it was looked at");
        }
        marks
    }

    proptest! {
        #[test]
        fn the_marks_of_a_text_are_found_wherever_it_is_cut(
            text in r#"(["\\{}\[\],:a ü]|[a-z\\]{1,40}){0,60}"#,
            piece in 1_usize..50,
        ) {
            let bytes = text.as_bytes();
            let marks = slowly(bytes);
            prop_assert_eq!(&in_pieces(std::iter::once(bytes)), &marks);
            prop_assert_eq!(&in_pieces(bytes.chunks(piece)), &marks);
            prop_assert_eq!(&in_pieces(bytes.chunks(1)), &marks);
        }
    }
}
