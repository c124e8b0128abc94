//! Bodies that make documents: one list of fields says what may be in them, and they are checked, described and compared with
//! what was made of them by it (`tillkeep_model::fields`).

use std::str::FromStr;

use serde_json::Value as Json;
use tillkeep_model::fields::{ColumnValue, Field, Rule, Value};
use tillkeep_model::{Bps, Instant, Money, Qty};
use tillkeep_storage::sea_orm::{EntityTrait, ModelTrait};
use uuid::Uuid;

use crate::error::Result;
use crate::resource::Check;

pub use crate::describe::of_fields;

/// A body that [`sent!`](crate::sent!) declares.
pub trait Sent {
    const FIELDS: &'static [Field];

    /// What it says, by the names of the struct.
    fn said(&self) -> Vec<(&'static str, &dyn Said)>;

    /// Adds what is wrong in it, which stands at `place` in the request.
    fn check_at(&self, place: &str, now: Instant, check: &mut Check) {
        for (name, said) in self.said() {
            if let Some(field) = field(Self::FIELDS, name) {
                said.check(&field.rule, &format!("{place}{}", field.name), now, check);
            }
        }
    }

    /// Refuses it for all that is wrong in it.
    fn check_fields(&self, now: Instant) -> Result<()> {
        let mut check = Check::default();
        self.check_at("", now, &mut check);
        check.finish()
    }

    /// Whether `row` has what this says in each column of the name of a field, as far as it was kept as it was sent.
    fn is_kept_in<M: ModelTrait>(&self, row: &M) -> bool {
        self.said().into_iter().all(|(name, said)| {
            let Some(field) = field(Self::FIELDS, name).filter(|field| field.kept != ColumnValue::Otherwise) else {
                return true;
            };
            // What is no column says so.
            let Ok(column) = <M::Entity as EntityTrait>::Column::from_str(name) else { return false };
            let is_left_out = field.kept == ColumnValue::IfSent && said.value() == Value::Null;
            is_left_out || Value::from(&row.get(column)) == said.value()
        })
    }
}

/// The field that the name of a struct is of.
fn field(fields: &'static [Field], name: &str) -> Option<&'static Field> {
    // A name that is a word of the language is written as r#type.
    let name = name.trim_start_matches("r#");
    fields.iter().find(|field| field.is(name))
}

/// A value in a body.
pub trait Said {
    fn value(&self) -> Value<'_> {
        Value::Other
    }

    /// Adds what is wrong with it, which stands at `place`, by the rule of its field.
    fn check(&self, rule: &Rule, place: &str, now: Instant, check: &mut Check) {
        for (within, message) in rule.problems(self.value(), now) {
            check.that(false, &format!("{place}{within}"), &message);
        }
    }
}

impl<T: Said> Said for Option<T> {
    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, Said::value)
    }

    fn check(&self, rule: &Rule, place: &str, now: Instant, check: &mut Check) {
        if let Some(said) = self {
            said.check(rule, place, now, check);
        }
    }
}

/// The entries of a list: texts, or bodies with the fields of the rule.
impl<T: Said> Said for Vec<T> {
    fn check(&self, rule: &Rule, place: &str, now: Instant, check: &mut Check) {
        if let Some(problem) = rule.problem_of_length(self.len()) {
            check.that(false, place, &problem);
            return;
        }
        let each = if let Rule::Texts { each, .. } = rule { each } else { rule };
        for (index, said) in self.iter().enumerate() {
            said.check(each, &format!("{place}[{index}]"), now, check);
        }
    }
}

impl Said for Json {
    fn check(&self, rule: &Rule, place: &str, now: Instant, check: &mut Check) {
        self.to_string().check(rule, place, now, check);
    }
}

impl Said for String {
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Said for bool {
    fn value(&self) -> Value<'_> {
        Value::Flag(*self)
    }
}

impl Said for Money {
    fn value(&self) -> Value<'_> {
        (*self).into()
    }
}

impl Said for Qty {
    fn value(&self) -> Value<'_> {
        (*self).into()
    }
}

impl Said for Bps {
    fn value(&self) -> Value<'_> {
        (*self).into()
    }
}

impl Said for Instant {}

/// Whoever looks for the row says that there is none, of the nil id as of any other.
impl Said for Uuid {
    fn value(&self) -> Value<'_> {
        Value::Id(*self)
    }

    fn check(&self, _: &Rule, _: &str, _: Instant, _: &mut Check) {}
}

/// Declares a body by the fields that may be in it: the struct with the types of its values, read from camelCase, and what it
/// is called in the description.
#[macro_export]
macro_rules! sent {
    (
        $(#[$about:meta])*
        $vis:vis struct $name:ident as $shown:literal by $fields:path {
            $($(#[$of_field:meta])* $field_vis:vis $field:ident: $kind:ty,)*
        }
    ) => {
        $(#[$about])*
        #[derive(::serde::Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        $vis struct $name {
            $($(#[$of_field])* $field_vis $field: $kind,)*
        }

        impl $crate::sent::Sent for $name {
            const FIELDS: &'static [::tillkeep_model::fields::Field] = &$fields;

            fn said(&self) -> Vec<(&'static str, &dyn $crate::sent::Said)> {
                vec![$((stringify!($field), &self.$field as &dyn $crate::sent::Said)),*]
            }
        }

        /// In a list.
        impl $crate::sent::Said for $name {
            fn check(
                &self,
                _: &::tillkeep_model::fields::Rule,
                place: &str,
                now: ::tillkeep_model::Instant,
                check: &mut $crate::resource::Check,
            ) {
                $crate::sent::Sent::check_at(self, &format!("{place}."), now, check);
            }
        }

        const _: () = {
            use ::utoipa::openapi::{RefOr, Schema};

            // The types of the fields in the description, before their rules.
            #[derive(::serde::Deserialize, ::utoipa::ToSchema)]
            #[serde(rename_all = "camelCase", deny_unknown_fields)]
            #[expect(dead_code, reason = "described, not read")]
            struct Types {
                $($(#[$of_field])* $field: $kind,)*
            }

            impl ::utoipa::__dev::ComposeSchema for $name {
                fn compose(_: Vec<RefOr<Schema>>) -> RefOr<Schema> {
                    $crate::sent::of_fields(<Types as ::utoipa::PartialSchema>::schema(), &$fields)
                }
            }

            impl ::utoipa::ToSchema for $name {
                fn name() -> ::std::borrow::Cow<'static, str> {
                    $shown.into()
                }
                fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
                    <Types as ::utoipa::ToSchema>::schemas(schemas);
                }
            }
        };
    };
}
