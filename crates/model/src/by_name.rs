//! Objects by the names of their keys. serde also reads a struct from a list, value by value in the order of its fields:
//! `["root", "739154"]` would sign a user in, and mean something else as soon as a field is added before the others.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};

/// Reads what the deserializer in it reads, but no list where an object belongs, however deep. What serde keeps aside
/// first, to look at it twice (`untagged`, `flatten`, a tag inside), is out of its reach.
pub struct ByName<T>(pub T);

/// A visitor, and whether it is that of a struct.
struct Seen<V> {
    visitor: V,
    is_struct: bool,
}

/// The visitor of anything but a struct.
const fn other<V>(visitor: V) -> Seen<V> {
    Seen { visitor, is_struct: false }
}

macro_rules! plainly {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(other(visitor))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ByName<D> {
    type Error = D::Error;

    plainly! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf deserialize_option
        deserialize_unit deserialize_seq deserialize_map deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_unit_struct(name, other(visitor))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, other(visitor))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(len, other(visitor))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple_struct(name, len, other(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct(name, fields, Seen { visitor, is_struct: true })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_enum(name, variants, other(visitor))
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! values {
    ($($method:ident: $kind:ty),* $(,)?) => {$(
        fn $method<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            self.visitor.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Seen<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    values! {
        visit_bool: bool, visit_i8: i8, visit_i16: i16, visit_i32: i32, visit_i64: i64, visit_i128: i128,
        visit_u8: u8, visit_u16: u16, visit_u32: u32, visit_u64: u64, visit_u128: u128, visit_f32: f32, visit_f64: f64,
        visit_char: char, visit_str: &str, visit_borrowed_str: &'de str, visit_string: String, visit_bytes: &[u8],
        visit_borrowed_bytes: &'de [u8], visit_byte_buf: Vec<u8>,
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(ByName(inner))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(ByName(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<V::Value, A::Error> {
        if self.is_struct {
            return Err(A::Error::custom("must be an object with its values by name, not a list"));
        }
        self.visitor.visit_seq(ByName(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(ByName(map))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(ByName(variant))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for ByName<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(ByName(inner))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for ByName<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(ByName(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for ByName<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(ByName(seed))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(ByName(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for ByName<A> {
    type Error = A::Error;
    type Variant = ByName<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let (value, variant) = self.0.variant_seed(ByName(seed))?;
        Ok((value, ByName(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for ByName<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(ByName(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, other(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, Seen { visitor, is_struct: true })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;
    use serde_json::value::RawValue;
    use serde_json::{Value as Json, json};

    use super::ByName;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        a: i64,
        b: Option<String>,
    }

    #[derive(Debug, Deserialize)]
    enum Kind {
        Named { a: i64 },
        Pair(i64, i64),
        Inside(Inner),
    }

    #[derive(Debug, Deserialize)]
    struct Outer {
        one: Option<Inner>,
        #[serde(default)]
        many: Vec<Inner>,
        #[serde(default)]
        by_key: BTreeMap<String, Inner>,
        #[serde(default)]
        kinds: Vec<Kind>,
        pair: Option<(i64, i64)>,
        any: Option<Json>,
        raw: Option<Box<RawValue>>,
    }

    fn read<T: DeserializeOwned>(json: &Json) -> Result<T, String> {
        let text = json.to_string();
        let from_text = T::deserialize(ByName(&mut serde_json::Deserializer::from_str(&text)));
        let from_value = T::deserialize(ByName(json.clone()));
        match (from_text, from_value) {
            (Ok(value), Ok(_)) => Ok(value),
            (Err(error), Err(_)) => Err(error.to_string()),
            _ => panic!("a text and a value are read differently: {json}"),
        }
    }

    #[test]
    fn a_list_is_no_object_at_any_depth() {
        assert!(serde_json::from_str::<Inner>(r#"[1, "x"]"#).is_ok(), "what serde does on its own");
        for json in [
            json!([{"a": 1}]),
            json!({"one": [1, "x"]}),
            json!({"many": [{"a": 1}, [1, "x"]]}),
            json!({"by_key": {"x": [1, "x"]}}),
            json!({"kinds": [{"Named": [1]}]}),
            json!({"kinds": [{"Inside": [1, "x"]}]}),
        ] {
            let error = read::<Outer>(&json).expect_err("refused");
            assert!(error.contains("must be an object with its values by name, not a list"), "{json}: {error}");
        }
    }

    #[test]
    fn everything_else_is_read_as_it_was() {
        // A raw value is read from a text alone.
        let text = r#"{"one": {"b": "x", "a": 1}, "many": [{"a": 2}], "by_key": {"k": {"a": 3}}, "raw": [1,  2],
            "kinds": [{"Named": {"a": 4}}, {"Pair": [5, 6]}, {"Inside": {"a": 7}}], "pair": [8, 9], "any": [[1], null]}"#;
        let read = Outer::deserialize(ByName(&mut serde_json::Deserializer::from_str(text))).expect("readable");
        assert_eq!(read.one, Some(Inner { a: 1, b: Some("x".to_owned()) }));
        assert_eq!((read.many[0].a, read.by_key["k"].a, read.pair), (2, 3, Some((8, 9))));
        assert!(matches!(read.kinds[..], [Kind::Named { a: 4 }, Kind::Pair(5, 6), Kind::Inside(Inner { a: 7, .. })]));
        assert_eq!(read.any, Some(json!([[1], null])));
        assert_eq!(read.raw.expect("raw").get(), "[1,  2]");
    }

    #[test]
    fn what_was_refused_stays_refused() {
        for (json, text) in [(json!({"a": "1"}), "expected i64"), (json!(7), "expected struct"), (json!({}), "missing")]
        {
            let error = read::<Inner>(&json).expect_err("refused");
            assert!(error.contains(text), "{json}: {error}");
        }
        let twice = Inner::deserialize(ByName(&mut serde_json::Deserializer::from_str(r#"{"a": 1, "a": 2}"#)));
        assert!(twice.expect_err("refused").to_string().contains("duplicate field"));
    }
}
