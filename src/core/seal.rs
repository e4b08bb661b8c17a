//! The seal of a job, as it stands in the job's options (`core/keyring.rs` makes it).

use serde_json::Value;

/// The words beside a sealed payload, readable in the options of the job: as they were found, so perhaps of somebody else's making.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seal {
    pub algorithm: String,
    pub key: String,
    /// In base64.
    pub tag: String,
}

impl Seal {
    /// Reads a member of a job's options. One that is damaged is a seal that nothing opens.
    #[must_use]
    pub fn from_json(member: &Value) -> Self {
        let text = |name| member.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { algorithm: text("alg"), key: text("key"), tag: text("tag") }
    }

    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::json!({ "alg": self.algorithm, "key": self.key, "tag": self.tag })
    }

    /// The answer to one who has no keys.
    #[must_use]
    pub fn needs_keys(&self) -> Unopened {
        Unopened::NoKeys(self.named_key())
    }

    /// Its key, if the words name one: they go into reasons and messages.
    pub(super) fn named_key(&self) -> String {
        if is_key_id(self.key.as_bytes()) { self.key.clone() } else { "?".into() }
    }
}

/// Why a job cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unopened {
    #[error("it is not sealed, and this queue object has keys")]
    Plain,
    #[error("it is sealed with key '{0}', and this queue object has no keys")]
    NoKeys(String),
    #[error("it is sealed with key '{0}', which is not among the keys of this queue object")]
    UnknownKey(String),
    #[error("it is sealed with key '{0}' in a way that this version does not know")]
    UnknownAlgorithm(String),
    #[error("payload, headers, id or queue are not those that were sealed with key '{0}'")]
    Forged(String),
}

/// Whether a key may have this id.
pub(super) fn is_key_id(id: &[u8]) -> bool {
    (1..=64).contains(&id.len()) && id.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}
