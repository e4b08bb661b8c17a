//! Receipts of jobs that arrived once, and ids that are taken for some time: what the queue keeps of jobs, whatever became of them.

use super::Queue;
use crate::core::client::Request;
use crate::core::error::{Error, Result};
use crate::core::job::JobId;
use crate::core::reply;
use redis::Value;

/// Names of one command.
const PAGE: usize = 1000;

impl Queue {
    /// The oldest receipts that were given so long ago and begin so.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn receipts(&self, older_than_ms: u64, prefix: &[u8], limit: usize) -> Result<Vec<Vec<u8>>> {
        let until_us =
            self.now_us()?.saturating_sub(i64::try_from(older_than_ms).unwrap_or(i64::MAX).saturating_mul(1000));
        let mut found = Vec::new();
        self.each_page(self.keys.receipts(), &until_us.to_string(), |page| {
            found.extend(page.into_iter().map(|(name, _)| name).filter(|name| name.starts_with(prefix)));
            found.len() < limit
        })?;
        found.truncate(limit);
        Ok(found)
    }

    /// Ids that are taken for some time, and until when (µs); soonest free first.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn taken_ids(&self) -> Result<Vec<(JobId, i64)>> {
        let now_us = self.now_us()?;
        let mut found = Vec::new();
        self.each_page(self.keys.recent(), "+inf", |page| {
            let taken = page.into_iter().filter(|(_, until_us)| *until_us > now_us);
            found.extend(taken.map(|(id, until_us)| (JobId::from_redis(&id), until_us)));
            true
        })?;
        Ok(found)
    }

    /// Removes receipts, and frees the ids of these names. Returns how many there were.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn forget_receipts(&self, names: &[Vec<u8>]) -> Result<u64> {
        let mut forgotten = 0;
        self.client.in_one_operation(|| {
            for chunk in names.chunks(PAGE) {
                for key in [self.keys.receipts(), self.keys.recent()] {
                    let args: Vec<&[u8]> = [b"ZREM", key].into_iter().chain(chunk.iter().map(Vec::as_slice)).collect();
                    let removed = self.client.run(|request, _, _| request.command(&args));
                    let removed = reply::int(removed.map_err(|error| self.about_receipts(error))?);
                    forgotten += removed.and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
                }
            }
            Ok(forgotten)
        })
    }

    /// Which of these receipts the queue has, and whether a job of that id is there, whatever its receipt says.
    ///
    /// # Errors
    /// Connection and server errors.
    pub fn has_receipts(&self, asked: &[(&[u8], Option<&JobId>)]) -> Result<Vec<(bool, bool)>> {
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let ask = |request: &mut Request, (receipt, id): &(&[u8], Option<&JobId>), of_job: bool| match of_job {
            false => request.command(&[b"ZSCORE", self.keys.receipts(), receipt]),
            true => request.command(&[b"HEXISTS", self.keys.jobs(), id.map_or(b"", JobId::as_bytes)]),
        };
        let both = |asked| [(asked, false), (asked, true)];
        let answers = self.client.in_one_operation(|| {
            let answers = self.client.run(|request, _, _| {
                request.all_replies();
                asked.iter().flat_map(both).for_each(|(asked, of_job)| ask(request, asked, of_job));
            });
            let answers: Vec<Value> = answers.and_then(reply::all)?.collect();
            if answers.len() == 2 * asked.len() && !answers.iter().any(|answer| matches!(answer, Value::ServerError(_)))
            {
                return Ok(answers);
            }
            // One by one: a slot that moves is followed, and an error is told.
            let one = |(asked, of_job)| self.client.run(|request, _, _| ask(request, asked, of_job));
            asked.iter().flat_map(both).map(one).collect()
        });
        let answers = answers.map_err(|error| self.about_receipts(error))?;
        let answer = |two: &[Value]| match two {
            [receipt, job] => (*receipt != Value::Nil, reply::int(job.clone()) == Some(1)),
            _ => (false, false),
        };
        Ok(answers.chunks(2).map(answer).collect())
    }

    /// Reads a sorted set up to a score, until `take` has enough.
    fn each_page(&self, key: &[u8], until: &str, mut take: impl FnMut(Vec<(Vec<u8>, i64)>) -> bool) -> Result<()> {
        let mut offset = 0;
        loop {
            let (from, many) = (offset.to_string(), PAGE.to_string());
            let value = self.client.run(|request: &mut Request, _, _| {
                request.reads_records();
                let range: [&[u8]; 9] = [
                    b"ZRANGE",
                    key,
                    b"-inf",
                    until.as_bytes(),
                    b"BYSCORE",
                    b"LIMIT",
                    from.as_bytes(),
                    many.as_bytes(),
                    b"WITHSCORES",
                ];
                request.command(&range);
            });
            let value = value.map_err(|error| self.about_receipts(error))?;
            let page = reply::scores(&value).ok_or_else(|| self.about_receipts(reply::unexpected()))?;
            offset += page.len();
            let is_last = page.len() < PAGE;
            if !take(page.into_iter().map(|(name, score)| (name.to_vec(), score)).collect()) || is_last {
                return Ok(());
            }
        }
    }

    fn about_receipts(&self, error: Error) -> Error {
        self.naming_key(error).while_doing(|| format!("looking at the receipts of queue '{}'", self.name))
    }
}
