//! In which partition a job lies: its group chooses, or its id.

use crc::{CRC_64_XZ, Crc};

/// The partitions that an id, or the name of a group, chooses from one, two, … `count` of them, each named once: a jump consistent hash (Lamping and Veach, 2014).
/// With more partitions a job moves only to a new one, so that few are to be asked for it.
pub fn homes(name: &[u8], count: usize) -> impl Iterator<Item = usize> {
    const CRC: Crc<u64> = Crc::<u64>::new(&CRC_64_XZ);
    let (mut key, mut next) = (CRC.checksum(name), 0_usize);
    std::iter::from_fn(move || {
        let home = next;
        key = key.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        next = ((home as f64 + 1.0) * ((1_u64 << 31) as f64 / ((key >> 33) as f64 + 1.0))) as usize;
        (home < count).then_some(home)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: usize, count: usize) -> Vec<usize> {
        homes(format!("order-{number}").as_bytes(), count).collect()
    }

    #[test]
    fn the_homes_of_a_job_grow_and_stay() {
        let mut moved = 0;
        for number in 0..1000 {
            let before = of(number, 4);
            let after = of(number, 5);
            assert_eq!(before[0], 0);
            assert_eq!(before, after[..before.len()], "homes before the raise stay homes");
            assert!(after.len() == before.len() || after.ends_with(&[4]));
            moved += usize::from(after.len() > before.len());
        }
        assert!((150..250).contains(&moved), "a fifth moves: {moved}");
    }

    #[test]
    fn ids_are_spread_evenly_and_for_ever_the_same() {
        let mut counts = [0; 4];
        (0..4000).for_each(|number| counts[*of(number, 4).last().unwrap()] += 1);
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
        let chosen: Vec<usize> = (0..8).map(|number| *of(number, 8).last().unwrap()).collect();
        assert_eq!(chosen, [2, 4, 2, 2, 5, 1, 3, 3], "another choice would lose the jobs that lie in Redis");
    }
}
