//! Whether Redis tells a connection that keys have changed which it has read (`CLIENT TRACKING`).

/// The state of it.
#[derive(Debug, Default)]
pub struct Tracking {
    is_on: bool,
    is_denied: bool,
    has_change: bool,
}

impl Tracking {
    /// Whether it is worth asking for.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        !self.is_denied
    }

    /// Whether it has been asked for.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// It was asked for, and granted, or refused with this code. Some refusals pass; but some users may not have it, and some servers
    /// have none.
    pub fn answered(&mut self, refusal: Option<&str>) {
        self.is_on = refusal.is_none();
        self.is_denied = matches!(refusal, Some("NOPERM" | "ERR"));
    }

    /// Redis has said that something changed. It says so once, until it is read again.
    pub(super) fn hear(&mut self) {
        self.has_change = true;
    }

    /// Whether it has since this was asked last.
    pub fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.has_change)
    }
}
