//! A lease: `marks token due consumer`, of a job of a group with the group behind.

#[derive(Debug, Clone, PartialEq)]
pub struct Lease {
    pub token: u64,
    pub due: i64,
    marks: String,
    pub group: Option<Vec<u8>>,
}

impl Lease {
    pub fn parse(lease: &[u8]) -> Option<Self> {
        let mut fields = lease.splitn(5, |byte| *byte == b' ');
        let mut word = || String::from_utf8(fields.next()?.to_vec()).ok();
        let (marks, token, due) = (word()?, word()?.parse().ok()?, word()?.parse().ok()?);
        let own = marks.strip_suffix('a').unwrap_or(&marks);
        let is_known = marks == "-" || !marks.is_empty() && own.chars().all(|mark| "bghl".contains(mark));
        let has_consumer = word().is_some_and(|consumer| !consumer.is_empty());
        let group = fields.next().map(<[u8]>::to_vec);
        Some(Self { token, due, marks, group }).filter(|_| is_known && has_consumer)
    }

    /// `b`: it was buried; `h`: it has a history; `g`: of a group; `l`: the queue has limits; `a`: it was leased behind another one.
    pub fn has(&self, mark: char) -> bool {
        self.marks.contains(mark)
    }
}
