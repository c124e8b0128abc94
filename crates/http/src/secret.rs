//! Settings that must not be printed.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// A text that shows itself only to who asks for it by name.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The address of a database, shown without its password.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for DatabaseUrl {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((scheme, rest)) = self.0.split_once("://") else {
            return f.write_str(if self.is_empty() { "" } else { "***" });
        };
        // Options may hold a password too.
        let (rest, options) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?***"));
        // A password that was not encoded may have an @ in it: the last one is the one before the host.
        let shown = match rest.rsplit_once('@') {
            Some((who, host)) => match who.split_once(':') {
                Some((name, _)) => format!("{name}:***@{host}"),
                None => rest.to_owned(),
            },
            None => rest.to_owned(),
        };
        write!(f, "{scheme}://{shown}{options}")
    }
}

/// As it is shown.
impl Serialize for DatabaseUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_printed() {
        let secret = Secret::from("hunter2".to_owned());
        assert_eq!(format!("{secret} {secret:?} {:?}", Some(&secret)), "*** *** Some(***)");
        assert_eq!(secret.expose(), "hunter2");
    }

    #[test]
    fn a_shown_database_address_has_no_password() {
        let shown = |url: &str| DatabaseUrl::from(url.to_owned()).to_string();
        assert_eq!(shown("postgres://till:secret@db/chain"), "postgres://till:***@db/chain");
        assert_eq!(shown("postgres://till:se@cr:et@db:5432/chain"), "postgres://till:***@db:5432/chain");
        assert_eq!(shown("postgres://till@db/chain?password=secret"), "postgres://till@db/chain?***");
        assert_eq!(shown("sqlite://data/tillkeep.db"), "sqlite://data/tillkeep.db");
        assert_eq!(shown("secret"), "***");
        assert_eq!(shown(""), "");
    }
}
