//! The bytes of a lease slot in Redis (layout in `lua/README.md`): read here, written by `lua/lib/lease.lua` and the scripts
//! that reserve.

use super::record::{STAMP, Stamp, be};

/// The flag of a slot whose leases have stamps.
const UNSEEN: u8 = 2;

/// One lease of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot<'a> {
    pub token: u64,
    pub deadline_ms: i64,
    pub id: &'a [u8],
    /// Of the job that was leased unseen: a record of another birth is not that job's.
    pub stamp: Option<Stamp>,
}

impl<'a> Slot<'a> {
    /// The leases in the record of a slot (layout in `lua/lib/lease.lua`); `None` when it is damaged.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Vec<Self>> {
        let (call_and_flags, rest) = bytes.split_at_checked(5)?;
        let (count, mut rest) = rest.split_at_checked(2)?;
        let count = be(count);
        let is_unseen = call_and_flags.last()? & UNSEEN != 0;
        let mut leases = Vec::with_capacity(count as usize);
        if count > 0 {
            let (deadline, after) = rest.split_at_checked(6)?;
            let (first, ids) = after.split_at_checked(6)?;
            let (deadline_ms, first) = (i64::try_from(be(deadline)).ok()?, be(first));
            let stamps = if is_unseen { STAMP * count as usize } else { 0 };
            let (ids, stamps) = ids.split_at_checked(ids.len().checked_sub(stamps)?)?;
            let mut stamps = stamps.as_chunks().0.iter().copied();
            let (end, ids) = ids.split_last()?;
            let mut add = |token, id| leases.push(Self { token, deadline_ms, id, stamp: stamps.next() });
            // A single id ends where the record does, or its stamp begins, whatever is in it.
            if count == 1 {
                add(first, ids);
            } else {
                (first..first + count).zip(ids.split(|byte| *byte == 0)).for_each(|(token, id)| add(token, id));
            }
            return (*end == 0 && leases.len() as u64 == count).then_some(leases);
        }
        while let Some((token, after)) = rest.split_at_checked(6) {
            let (deadline, after) = after.split_at_checked(6)?;
            let (length, after) = after.split_first()?;
            let (id, after) = after.split_at_checked(usize::from(*length))?;
            let (stamp, after) = match after.split_first_chunk() {
                Some((stamp, after)) if is_unseen => (Some(*stamp), after),
                None if is_unseen => return None,
                _ => (None, after),
            };
            leases.push(Self { token: be(token), deadline_ms: i64::try_from(be(deadline)).ok()?, id, stamp });
            rest = after;
        }
        rest.is_empty().then_some(leases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_its_leases_in_short_or_in_full() {
        let lease = |token, deadline_ms, id| Slot { token, deadline_ms, id, stamp: None };
        let short = b"call\0\0\x02\0\0\0\0\x01\0\0\0\0\0\0\x07a\0bc\0";
        assert_eq!(Slot::decode(short), Some(vec![lease(7, 256, b"a"), lease(8, 256, b"bc")]));
        assert_eq!(Slot::decode(&short[..short.len() - 1]), None, "the last id is not complete");
        let full = b"call\x01\0\0\0\0\0\0\0\x09\0\0\0\0\x01\0\x02bc\0\0\0\0\0\x0b\0\0\0\0\x02\0\x01a";
        assert_eq!(Slot::decode(full), Some(vec![lease(9, 256, b"bc"), lease(11, 512, b"a")]));
        assert_eq!(Slot::decode(&full[..full.len() - 1]), None);
    }

    #[test]
    fn a_slot_that_was_leased_unseen_has_stamps() {
        let lease = |token, deadline_ms, id, stamp: &[u8; 7]| Slot { token, deadline_ms, id, stamp: Some(*stamp) };
        let short = b"call\x02\0\x02\0\0\0\0\x01\0\0\0\0\0\0\x07a\0bc\0\x01\0\0\0\0\0\x08\x02\0\0\0\0\0\x10";
        let (first, second) = (b"\x01\0\0\0\0\0\x08", b"\x02\0\0\0\0\0\x10");
        assert_eq!(Slot::decode(short), Some(vec![lease(7, 256, b"a", first), lease(8, 256, b"bc", second)]));
        assert_eq!(Slot::decode(&short[..short.len() - 1]), None, "the last stamp is not complete");
        let one = b"call\x02\0\x01\0\0\0\0\x01\0\0\0\0\0\0\x07bc\0\x02\0\0\0\0\0\x10";
        assert_eq!(Slot::decode(one), Some(vec![lease(7, 256, b"bc", second)]));
        let full = b"call\x02\0\0\0\0\0\0\0\x09\0\0\0\0\x01\0\x02bc\x02\0\0\0\0\0\x10\0\0\0\0\0\x0b\0\0\0\0\x02\0\x01a\x01\0\0\0\0\0\x08";
        assert_eq!(Slot::decode(full), Some(vec![lease(9, 256, b"bc", second), lease(11, 512, b"a", first)]));
        assert_eq!(Slot::decode(&full[..full.len() - 1]), None, "the last stamp is not complete");
        assert_eq!(Slot::decode(b"call\x02\xff\xff\0\0\0\0\x01\0\0\0\0\0\0\x07a\0"), None, "more than there are");
    }

    proptest::proptest! {
        #[test]
        fn any_slot_is_read_as_it_was_written(
            ids in proptest::collection::vec(proptest::collection::vec(1_u8.., 1..40), 1..9),
            (is_unseen, is_short) in proptest::prelude::any::<(bool, bool)>(),
            (stamp, token, deadline_ms) in (proptest::array::uniform7(proptest::num::u8::ANY), 0_u64..1 << 47, 0_i64..1 << 47),
        ) {
            let six = |value: u64| value.to_be_bytes()[2..].to_vec();
            let count = u16::try_from(if is_short { ids.len() } else { 0 }).unwrap().to_be_bytes();
            let mut bytes = [b"call".as_slice(), &[if is_unseen { UNSEEN } else { 0 }], &count].concat();
            let stamps = |n: usize| if is_unseen { stamp.map(|byte| byte.wrapping_add(n as u8)).to_vec() } else { Vec::new() };
            if is_short {
                bytes.extend([six(deadline_ms as u64), six(token)].concat());
                ids.iter().for_each(|id| bytes.extend([id.as_slice(), b"\0"].concat()));
                (0..ids.len()).for_each(|n| bytes.extend(stamps(n)));
            } else {
                for (n, id) in ids.iter().enumerate() {
                    let head = [six(token + n as u64), six(deadline_ms as u64), vec![id.len() as u8]].concat();
                    bytes.extend([head, id.clone(), stamps(n)].concat());
                }
            }
            let leases = Slot::decode(&bytes).unwrap();
            proptest::prop_assert_eq!(leases.len(), ids.len());
            for (n, (lease, id)) in leases.iter().zip(&ids).enumerate() {
                let stamp = stamps(n).try_into().ok();
                proptest::prop_assert_eq!(*lease, Slot { token: token + n as u64, deadline_ms, id, stamp });
            }
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80)) {
            let _ = Slot::decode(&bytes);
        }
    }
}
