//! Whether to try what has not paid lately.

/// After so many in a row that did not pay,
const MOST_IN_VAIN: u8 = 3;
/// so many chances are left out.
const LEFT_OUT: u8 = 64;

/// How something that need not be tried has gone of late.
#[derive(Debug, Default)]
pub struct Patience {
    in_vain: u8,
    left_out: u8,
    is_denied: bool,
}

impl Patience {
    /// Whether to try it this time.
    pub fn take_chance(&mut self) -> bool {
        let is_tried = self.left_out == 0 && !self.is_denied;
        self.left_out = self.left_out.saturating_sub(1);
        is_tried
    }

    /// What was tried has paid, or has not.
    pub fn saw(&mut self, has_paid: bool) {
        self.in_vain = if has_paid { 0 } else { self.in_vain + 1 };
        if self.in_vain == MOST_IN_VAIN {
            (self.in_vain, self.left_out) = (0, LEFT_OUT);
        }
    }

    /// This user may not do it.
    pub fn deny(&mut self) {
        self.is_denied = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_three_in_vain_in_a_row_it_is_left_out_for_a_while() {
        let mut patience = Patience::default();
        for has_paid in [false, false, true, false, false, false] {
            assert!(patience.take_chance());
            patience.saw(has_paid);
        }
        assert_eq!((0..1000).position(|_| patience.take_chance()), Some(usize::from(LEFT_OUT)));
    }

    #[test]
    fn what_is_denied_is_not_tried_again() {
        let mut patience = Patience::default();
        patience.deny();
        assert!((0..1000).all(|_| !patience.take_chance()));
    }
}
