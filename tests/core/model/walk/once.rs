//! Jobs that arrive once, and their receipts.

use super::super::pushing::Once;
use super::Walk;
use delayqueue::core::job::OnDuplicate;
use delayqueue::core::queue::{OnceJob, PushOnce};
use delayqueue::core::record::History;

impl Walk {
    fn receipt(&mut self) -> String {
        format!("r{}", self.below(60))
    }

    fn new_once(&mut self) -> Once {
        let mut push = self.new_push();
        if push.on_duplicate == OnDuplicate::Fail {
            push.on_duplicate = OnDuplicate::Keep;
        }
        let first_due_us = self.pick(&[0, self.model.now - 5_000, self.model.now + 5_000]);
        let (attempts, timeouts) = (self.below(3), self.below(2));
        let past = History {
            attempts: attempts + timeouts,
            timeouts,
            releases: attempts,
            buries: self.below(2),
            kicks: self.below(2),
            first_due_us,
            last_error: self.pick(&[None, Some(b"why".to_vec())]),
        };
        let past = self.pick(&[None, None, Some(past)]);
        let (is_receipt_only, is_buried) = (self.below(8) == 0, self.below(6) == 0);
        Once { receipt: self.receipt(), push, is_receipt_only, past, is_buried }
    }

    pub(super) fn push_once(&mut self, is_lost: bool) {
        let count = self.pick(&[1, 2, 5]);
        let batch: Vec<Once> = (0..count).map(|_| self.new_once()).collect();
        let jobs: Vec<OnceJob> = batch
            .iter()
            .map(|once| OnceJob {
                receipt: once.receipt.clone().into_bytes(),
                job: Self::new_job(&once.push),
                is_receipt_only: once.is_receipt_only,
                created_at_ms: None,
                past: once.past.clone(),
                is_buried: once.is_buried,
            })
            .collect();
        let said = |once: &Once| {
            let (push, past) = (&once.push, &once.past);
            let (only, buried) = (once.is_receipt_only, once.is_buried);
            let said = format!("{} {:?} {:?} {:?}", push.id, push.due, push.on_duplicate, push.unique_ms);
            format!("{} {said} {:?} only {only} buried {buried} {past:?}", once.receipt, push.max_wait_ms)
        };
        self.note(format!("push_once {:?}", batch.iter().map(said).collect::<Vec<_>>()));
        let got = self.queue(is_lost).push_once(&jobs).unwrap();
        let [added, kept, known] = self.model.push_once(&batch);
        let all_known = PushOnce { known: count as u64, ..PushOnce::default() };
        // Where the lost answer was one of many leases that are taken back, the repeat adds the jobs.
        assert!(
            got == PushOnce { added, kept, known } || is_lost && got == all_known,
            "{got:?} {added} {kept} {known}"
        );
    }

    pub(super) fn forget_receipts(&mut self, is_lost: bool) {
        let names = [self.receipt(), self.receipt(), self.id(), "none".into()];
        self.forget_names(&names, is_lost);
    }

    pub(super) fn forget_names(&mut self, names: &[String], is_lost: bool) {
        self.note(format!("forget_receipts {names:?}"));
        let bytes: Vec<Vec<u8>> = names.iter().map(|name| name.clone().into_bytes()).collect();
        // No script: the answer that is lost is that of the next one.
        let got = self.queue(false).forget_receipts(&bytes).unwrap();
        assert_eq!(got, self.model.forget_receipts(names));
        if is_lost {
            assert_eq!(self.queue(false).forget_receipts(&bytes).unwrap(), 0, "as a repeat");
        }
    }
}
