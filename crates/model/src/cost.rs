//! What a product costs the chain, and the floor of its price. It stands in all that is stored and all that travels between
//! servers; an answer has it when whoever asks may see it.

use std::cell::Cell;

use sea_orm::DeriveValueType;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Money;

thread_local! {
    /// Whether what is serialised here and now is for a caller who may see no costs.
    static WITHHELD: Cell<bool> = const { Cell::new(false) };
}

/// An amount that not everybody may see. A field of this type has `#[serde(skip_serializing_if = "Cost::is_withheld")]`,
/// which leaves its key out as well; without that its value would be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, DeriveValueType)]
pub struct Cost(pub Money);

impl Cost {
    /// Runs `write`, which serialises something, without costs when they are `withheld`.
    pub fn without<T>(withheld: bool, write: impl FnOnce() -> T) -> T {
        /// Puts back what was so before, whatever happens.
        struct Before(bool);
        impl Drop for Before {
            fn drop(&mut self) {
                WITHHELD.set(self.0);
            }
        }
        let _before = Before(WITHHELD.replace(withheld));
        write()
    }

    /// Whether the field of a cost is left out of what is serialised now.
    pub fn is_withheld<T>(_: &T) -> bool {
        WITHHELD.get()
    }
}

impl From<Money> for Cost {
    fn from(amount: Money) -> Self {
        Self(amount)
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if WITHHELD.get() { serializer.serialize_none() } else { self.0.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Money::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[derive(Serialize)]
    struct Row {
        price: Money,
        #[serde(skip_serializing_if = "Cost::is_withheld")]
        cost: Cost,
        #[serde(skip_serializing_if = "Cost::is_withheld")]
        floor: Option<Cost>,
        careless: Cost,
    }

    fn written() -> String {
        let row = Row { price: Money(9), cost: Cost(Money(5)), floor: None, careless: Cost(Money(7)) };
        serde_json::to_string(&row).expect("JSON")
    }

    #[test]
    fn a_cost_is_left_out_of_what_is_written_for_a_caller_who_may_not_see_it_and_of_nothing_else() {
        const ALL: &str = r#"{"price":9,"cost":5,"floor":null,"careless":7}"#;
        assert_eq!(written(), ALL);
        assert_eq!(Cost::without(true, written), r#"{"price":9,"careless":null}"#);
        assert_eq!(Cost::without(true, || Cost::without(false, written)), ALL);
        assert!(catch_unwind(|| Cost::without(true, || panic!("in the middle"))).is_err());
        assert_eq!(written(), ALL, "the next thing that this thread writes is another one");
    }
}
