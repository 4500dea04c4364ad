//! What threads and keys take in the database.

use std::sync::Arc;

use superstep::ThreadId;
use superstep::checkpoint::{KeyUsage, ThreadBreakdown};

use crate::Workbench;
use crate::base::values;
use crate::wire::{
    GrowthPoint, KeyHint, KeySize, LensView, Problem, ReadUsage, ThreadRef, ThreadSize, UsageView,
};

/// Points of the picture of how a thread grew.
const MAX_POINTS: usize = 240;
/// Threads of `storage.usage` when nobody says how many.
const LARGEST: usize = 500;
/// Versions and bytes from which on a hint is given for a key.
const HINT_FROM: (u64, u64) = (20, 64 * 1024);

/// Returns a hint, with its reason, for a key that takes more space than its value justifies. A growing value is on
/// average about half of its current size; when the stored bytes are a multiple of the value, the versions do not share
/// their common parts.
fn hint(usage: &KeyUsage, now: u64) -> Option<KeyHint> {
    let (versions, bytes) = HINT_FROM;
    if usage.versions < versions || usage.bytes < bytes || usage.bytes <= 4 * now {
        return None;
    }
    let average = usage.whole / usage.versions;
    Some(if 5 * average < 4 * now {
        KeyHint::Grows
    } else {
        KeyHint::Rewritten
    })
}

/// Returns the growth of a thread, with checkpoints grouped so that a long thread becomes a chart of a few hundred
/// points.
fn growth(breakdown: &ThreadBreakdown) -> Vec<GrowthPoint> {
    let together = breakdown.checkpoints.len().div_ceil(MAX_POINTS).max(1);
    let mut total = 0;
    breakdown
        .checkpoints
        .chunks(together)
        .filter_map(|chunk| {
            let last = chunk.last()?;
            let bytes = chunk.iter().map(|checkpoint| checkpoint.bytes).sum();
            total += bytes;
            Some(GrowthPoint {
                checkpoint_id: last.id.to_string(),
                step: i32::try_from(last.step).unwrap_or(i32::MAX),
                at: last.ts.clone(),
                checkpoints: u32::try_from(chunk.len()).unwrap_or(u32::MAX),
                bytes,
                total,
            })
        })
        .collect()
}

impl Workbench {
    pub(crate) async fn storage_usage(self: &Arc<Self>, request: ReadUsage) -> Result<UsageView, Problem> {
        let usage = self.saver().usage().await?;
        let limit = match request.limit {
            0 => LARGEST,
            limit => limit as usize,
        };
        let shown = &usage.threads[..usage.threads.len().min(limit)];
        let ids: Vec<&str> = shown.iter().map(|thread| thread.thread.as_str()).collect();
        let titles = self.titles(&ids)?;
        let threads = shown.iter().map(|thread| {
            let (title, graph_name) = titles(thread.thread.as_str());
            ThreadSize {
                thread_id: thread.thread.to_string(),
                title,
                graph_name,
                checkpoints: thread.checkpoints,
                bytes: thread.bytes,
            }
        });
        Ok(UsageView {
            bytes: usage.bytes,
            free: usage.free,
            shared: usage.shared,
            of_threads: usage.threads.iter().map(|thread| thread.bytes).sum(),
            of_store: usage.store,
            total: usage.threads.len() as u64,
            threads: threads.collect(),
        })
    }

    pub(crate) async fn storage_lens(self: &Arc<Self>, request: ThreadRef) -> Result<LensView, Problem> {
        let (saver, thread) = (self.saver(), ThreadId::from(request.thread_id.as_str()));
        let breakdown = saver.breakdown(&thread).await?;
        if breakdown.checkpoints.is_empty() {
            // Says so when there is no such thread.
            self.thread(&request.thread_id).await?;
        }
        let names: Vec<superstep::Name> = breakdown.keys.iter().map(|usage| usage.key.clone()).collect();
        let values = saver.values(&thread, "", None, &names).await;
        let values = values?.unwrap_or_default();
        let key = |usage: &KeyUsage| {
            let now = values.get(&usage.key).map_or(0, values::bytes);
            KeySize {
                key: usage.key.to_string(),
                versions: usage.versions,
                bytes: usage.bytes,
                whole: usage.whole,
                now,
                hint: hint(usage, now),
            }
        };
        Ok(LensView {
            thread_id: request.thread_id,
            bytes: breakdown
                .checkpoints
                .iter()
                .map(|checkpoint| checkpoint.bytes)
                .sum(),
            checkpoints: breakdown.checkpoints.len() as u64,
            keys: breakdown.keys.iter().map(key).collect(),
            growth: growth(&breakdown),
        })
    }
}

#[cfg(test)]
mod tests {
    use superstep::checkpoint::CheckpointUsage;

    use super::*;

    #[test]
    fn only_what_takes_more_than_it_is_worth_is_reported() {
        let usage = |versions, bytes, whole| KeyUsage {
            key: "k".into(),
            versions,
            bytes,
            whole,
        };
        let size = 100_000;
        let grown = usage(100, 5_000_000, 5_000_000);
        assert_eq!(
            hint(&grown, size),
            Some(KeyHint::Grows),
            "every version whole, half as large as now on average"
        );
        assert_eq!(
            hint(&usage(100, 110_000, 5_000_000), size),
            None,
            "only what was added is stored"
        );
        assert_eq!(
            hint(&usage(100, 10_000_000, 10_000_000), size),
            Some(KeyHint::Rewritten)
        );
        assert_eq!(
            hint(&usage(10, 1_000_000, 1_000_000), size),
            None,
            "a few versions are nothing to speak of"
        );
        assert_eq!(hint(&usage(100, 20_000, 20_000), 200), None, "nor is little");
    }

    #[test]
    fn the_growth_of_a_long_thread_is_a_picture_of_few_points() {
        let checkpoints = (0..10_000)
            .map(|n| CheckpointUsage {
                ns: "".into(),
                id: format!("{n:05}").into(),
                step: n,
                ts: String::new(),
                bytes: 3,
            })
            .collect();
        let points = growth(&ThreadBreakdown {
            keys: Vec::new(),
            checkpoints,
        });
        assert!(
            points.len() <= MAX_POINTS && points.len() > MAX_POINTS / 2,
            "{}",
            points.len()
        );
        let last = points.last().unwrap();
        assert_eq!(
            (last.total, last.step, last.checkpoint_id.as_str()),
            (30_000, 9_999, "09999")
        );
        assert!(growth(&ThreadBreakdown::default()).is_empty());
    }

    fn usage(versions: u64, bytes: u64, whole: u64) -> KeyUsage {
        KeyUsage {
            key: "log".into(),
            versions,
            bytes,
            whole,
        }
    }

    #[test]
    fn a_hint_is_given_about_a_key_that_takes_much_more_than_it_holds() {
        let (versions, bytes) = HINT_FROM;
        assert_eq!(hint(&usage(versions, bytes, 0), 1), Some(KeyHint::Grows));
        assert_eq!(hint(&usage(versions - 1, bytes, 0), 1), None);
        assert_eq!(hint(&usage(versions, bytes - 1, 0), 1), None);
        assert_eq!(
            hint(&usage(versions, bytes, 0), bytes / 4),
            None,
            "four times is usual"
        );
        assert_eq!(
            hint(&usage(versions, bytes, 0), bytes / 4 - 1),
            Some(KeyHint::Grows)
        );
        // As large on average as it is now: written whole again and again.
        let now = 1_000;
        let of_average = |average: u64| hint(&usage(20, bytes, 20 * average), now);
        assert_eq!(of_average(799), Some(KeyHint::Grows));
        assert_eq!(of_average(800), Some(KeyHint::Rewritten));
        assert_eq!(of_average(now), Some(KeyHint::Rewritten));
    }

    #[test]
    fn growth_has_a_bounded_number_of_points_that_add_up() {
        let breakdown = |count: usize| ThreadBreakdown {
            checkpoints: (0..count)
                .map(|step| superstep::checkpoint::CheckpointUsage {
                    ns: "".into(),
                    id: step.to_string().as_str().into(),
                    step: step as i64,
                    ts: String::new(),
                    bytes: 10,
                })
                .collect(),
            ..ThreadBreakdown::default()
        };
        assert_eq!(growth(&breakdown(0)).len(), 0);
        let few = growth(&breakdown(3));
        let totals: Vec<u64> = few.iter().map(|point| point.total).collect();
        assert_eq!(
            (totals, few[1].bytes, few[1].checkpoints),
            (vec![10, 20, 30], 10, 1)
        );
        assert_eq!(growth(&breakdown(MAX_POINTS)).len(), MAX_POINTS);
        let many = growth(&breakdown(MAX_POINTS + 1));
        assert_eq!(many.len(), (MAX_POINTS + 1).div_ceil(2));
        assert_eq!((many[0].checkpoints, many[0].bytes, many[0].step), (2, 20, 1));
        assert_eq!(
            many.last().map(|point| point.total),
            Some(10 * (MAX_POINTS as u64 + 1))
        );
    }
}
