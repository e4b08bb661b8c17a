//! Bytes on their way from the socket to the parser. The room behind them is cleared once, not before every read.

/// A window of received bytes in a buffer that is used again and again.
#[derive(Debug, Default)]
pub struct Input {
    bytes: Vec<u8>,
    from: usize,
    to: usize,
}

/// Room for one read. Clearing more than a page of the machine would be much of what a new connection costs.
const LEAST: usize = 4 * 1024;
const MOST: usize = 1 << 20;

impl Input {
    /// The bytes received and not consumed.
    #[must_use]
    pub fn filled(&self) -> &[u8] {
        self.bytes.get(self.from..self.to).unwrap_or_default()
    }

    /// Room for the next read: as much again as is there, so that a large reply takes few.
    pub fn room(&mut self) -> &mut [u8] {
        let wanted = (self.to - self.from).clamp(LEAST, MOST);
        if self.bytes.len() - self.to < wanted {
            self.bytes.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
            if self.bytes.is_empty() {
                self.bytes = vec![0; wanted]; // the system gives it cleared
            } else if self.bytes.len() - self.to < wanted {
                self.bytes.resize(self.to + wanted, 0);
            }
        }
        self.bytes.get_mut(self.to..).unwrap_or_default()
    }

    /// A read put this many bytes into the room.
    pub fn received(&mut self, count: usize) {
        self.to = (self.to + count).min(self.bytes.len());
    }

    /// The caller has used the first `count` bytes. Frees the room that a large reply took.
    pub fn consume(&mut self, count: usize) {
        self.from = (self.from + count).min(self.to);
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
            if self.bytes.len() > MOST {
                self.bytes = Vec::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_in_goes_out_in_order() {
        let mut input = Input::default();
        let sent: Vec<u8> = (0..3_000_000_usize).map(|n| (n * 7 % 251) as u8).collect();
        let (mut offered, mut got) = (0, Vec::new());
        while got.len() < sent.len() {
            let room = input.room();
            let count = room.len().min(sent.len() - offered).min(70_001);
            room[..count].copy_from_slice(&sent[offered..offered + count]);
            offered += count;
            input.received(count);
            let taken = input.filled().len().min(got.len() % 50_000 + 1);
            got.extend_from_slice(&input.filled()[..taken]);
            input.consume(taken);
        }
        assert!(got == sent);
        assert!(input.filled().is_empty());
    }
}
