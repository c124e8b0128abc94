//! Random numbers that are the same everywhere: splitmix64, one stream for each purpose, so that a new product does not
//! shift what was drawn for the others.

/// A sequence of numbers that depends on nothing but the seed and the purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream(u64);

impl Stream {
    /// The stream of `purpose`, such as `sales:S01:2026-11-12`.
    pub fn new(seed: u64, purpose: &str) -> Self {
        Self(seed ^ fnv1a64(purpose.as_bytes()))
    }

    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `limit` - 1; 0 when `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        // The upper half of the product is below the limit, and so fits.
        let product = u128::from(self.draw()) * limit as u128;
        usize::try_from(product >> 64).unwrap_or_default()
    }

    /// A number from `low` to `high`, both included; `low` when the range is empty.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = usize::try_from(high - low + 1).unwrap_or_default();
        low + i64::try_from(self.below(width)).unwrap_or_default()
    }
}

/// FNV-1a, 64 bits: spreads the purposes over the seeds.
fn fnv1a64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_g02_the_first_numbers_of_splitmix64() {
        let mut stream = Stream(20_260_101);
        let first = [stream.draw(), stream.draw(), stream.draw()];
        assert_eq!(first, [17_486_582_413_981_831_226, 3_190_848_937_081_373_894, 13_905_571_665_034_498_228]);
    }

    #[test]
    fn fnv1a64_as_published() {
        assert_eq!(fnv1a64(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a64(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a64(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn a_stream_depends_on_its_seed_and_its_purpose() {
        let first = |seed, purpose| Stream::new(seed, purpose).draw();
        assert_eq!(first(1, "sales:S01"), first(1, "sales:S01"));
        assert_ne!(first(1, "sales:S01"), first(2, "sales:S01"));
        assert_ne!(first(1, "sales:S01"), first(1, "sales:S02"));
    }

    #[test]
    fn both_ends_of_a_range_are_drawn_and_nothing_outside() {
        let mut stream = Stream::new(1, "range");
        let drawn: Vec<i64> = (0..1000).map(|_| stream.between(-3, 4)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&-3), Some(&4)));
        assert_eq!((stream.between(7, 7), stream.between(7, 6), stream.below(0)), (7, 7, 0));
    }
}
