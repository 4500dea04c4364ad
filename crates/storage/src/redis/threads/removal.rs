//! Takes checkpoints and the values that only they need away, in rounds that each take the server a moment.

use std::collections::{BTreeMap, HashMap, HashSet};

use superstep::checkpoint::StorageError;
use superstep::{CheckpointId, ThreadId};

use super::Whole;
use crate::base::Execution;
use crate::redis::reader::corrupt;
use crate::redis::server::{REMOVE, Server, bytes as bytes_of, number, parts, place};
use crate::redis::state::{Resolved, index_key, index_parts, read_record};
use crate::redis::usage::{bases, rows_of, with_bases};
use crate::redis::writer::standing;

/// Checkpoints, or values, that one script removes: the server does nothing else meanwhile.
const ROUND: usize = 1000;

/// Progress of a removal.
#[derive(Debug, Default)]
pub(super) struct Gone {
    pub(super) checkpoints: u64,
    /// Less than nothing while what stays was made to stand alone and nothing has gone yet.
    pub(super) bytes: i64,
}

/// State that a script relies on.
struct Facts {
    epoch: Vec<u8>,
    changes: Vec<u8>,
}

/// Work of one script.
#[derive(Debug, Default)]
struct Round {
    checkpoints: Vec<Vec<u8>>,
    rows: Vec<u64>,
    /// Records in place of others.
    rewritten: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Checkpoints, each before the one that it builds on.
fn children_first(doomed: &HashSet<Vec<u8>>, bases: &HashMap<Vec<u8>, Vec<u8>>) -> Vec<Vec<u8>> {
    let mut children: HashMap<&Vec<u8>, usize> = HashMap::new();
    for base in bases.values() {
        *children.entry(base).or_default() += 1;
    }
    let mut open: Vec<&Vec<u8>> = doomed.iter().filter(|key| !children.contains_key(key)).collect();
    // From the newest on, so that what is left has its past for as long as can be.
    open.sort_unstable();
    let mut order = Vec::with_capacity(doomed.len());
    while let Some(key) = open.pop() {
        order.push(key.clone());
        if let Some(base) = bases.get(key)
            && let Some(left) = children.get_mut(base)
        {
            *left -= 1;
            if *left == 0 {
                open.push(base);
            }
        }
    }
    order
}

/// Gives each row that goes to the round of the last checkpoint that names it, or that names what continues it.
fn share_rows(
    rounds: &mut Vec<Round>,
    garbage: HashSet<u64>,
    named: &HashMap<Vec<u8>, Vec<u64>>,
    bases: &HashMap<u64, u64>,
) {
    let mut last: HashMap<u64, usize> = HashMap::new();
    for (n, round) in rounds.iter().enumerate() {
        for row in round
            .checkpoints
            .iter()
            .filter_map(|key| named.get(key))
            .flatten()
        {
            last.insert(*row, n);
        }
    }
    for (row, n) in last.clone() {
        let mut at = row;
        // A list goes back a bounded number of rows.
        while let Some(base) = bases.get(&at).filter(|base| **base != 0) {
            let until = last.entry(*base).or_insert(n);
            *until = n.max(*until);
            at = *base;
        }
    }
    let mut more = Vec::new();
    for row in garbage {
        match last.get(&row).and_then(|n| rounds.get_mut(*n)) {
            Some(round) if round.rows.len() < 4 * ROUND => round.rows.push(row),
            _ => more.push(row),
        }
    }
    let rest = more.chunks(4 * ROUND);
    rounds.extend(rest.map(|rows| Round {
        rows: rows.to_vec(),
        ..Round::default()
    }));
}

impl Server {
    /// Removes checkpoints and the values that only they need, in rounds that each take the server a moment. `gone` says how
    /// far it came; true when it came to the end, false when the thread has changed meanwhile.
    ///
    /// What stays is first made to stand alone. Then checkpoints go, each before what it builds on, and a value with the
    /// last checkpoint that names it: whatever ends this in the middle, what is left can be read.
    pub(super) async fn remove(
        &self,
        thread: &ThreadId,
        whole: &Whole,
        doomed: &HashSet<Vec<u8>>,
        execution: Execution,
        gone: &mut Gone,
    ) -> Result<bool, StorageError> {
        let texts: HashMap<Vec<u8>, Vec<u8>> = whole.records.clone().into_iter().collect();
        let (mut kept_rows, mut all_rows) = (HashSet::new(), HashSet::new());
        let (mut rewritten, mut roots) = (Vec::new(), BTreeMap::new());
        // What each doomed checkpoint names, and what it builds on.
        let (mut named, mut bases_of) = (HashMap::new(), HashMap::new());
        for (key, text) in &whole.records {
            let stays = !doomed.contains(key);
            let (record, ns, id) = match (read_record(text), index_parts(key)) {
                (Ok(record), Some((ns, id))) => (record, ns, id),
                (Err(cause), Some((_, id))) if stays => return Err(corrupt(thread, &id, cause)),
                _ => continue,
            };
            all_rows.extend(rows_of(&record));
            if ns.is_empty() {
                roots.insert(key.clone(), (id.clone(), record.head.ts.clone()));
            }
            let base = record.continues.then_some(record.head.parent.as_ref()).flatten();
            let base = base
                .map(|base| index_key(&ns, base))
                .filter(|base| doomed.contains(base));
            if !stays {
                named.insert(key.clone(), rows_of(&record).collect::<Vec<_>>());
                bases_of.extend(base.map(|base| (key.clone(), base)));
            } else if base.is_some() {
                let refuse = |cause| corrupt(thread, &id, cause);
                let state = Resolved::of(&ns, &id, &texts).map_err(refuse)?.state;
                kept_rows.extend(state.values.values().copied());
                rewritten.push((key.clone(), standing(record.head, &state).map_err(refuse)?));
            } else {
                kept_rows.extend(rows_of(&record));
            }
        }
        let starts = self.rows(thread, all_rows.iter().copied(), "starts").await?;
        let bases = bases(&starts);
        let kept_rows = with_bases(&kept_rows, &bases);
        let garbage = with_bases(&all_rows, &bases)
            .difference(&kept_rows)
            .copied()
            .collect();
        let order = children_first(doomed, &bases_of);
        let mut rounds: Vec<Round> = rewritten
            .chunks(ROUND)
            .map(|some| Round {
                rewritten: some.to_vec(),
                ..Round::default()
            })
            .collect();
        rounds.extend(order.chunks(ROUND).map(|some| Round {
            checkpoints: some.to_vec(),
            ..Round::default()
        }));
        share_rows(&mut rounds, garbage, &named, &bases);

        let mut at = Facts {
            epoch: whole.epoch.clone(),
            changes: whole.changes.clone(),
        };
        for round in rounds {
            for key in &round.checkpoints {
                roots.remove(key);
            }
            let count = round.checkpoints.len() as u64;
            let Some(bytes) = self
                .remove_some(thread, &mut at, round, &roots, execution)
                .await?
            else {
                return Ok(false);
            };
            gone.checkpoints += count;
            gone.bytes += bytes;
        }
        Ok(true)
    }

    /// Runs one round of a removal; returns `None` when the thread has changed.
    async fn remove_some(
        &self,
        thread: &ThreadId,
        at: &mut Facts,
        round: Round,
        roots: &BTreeMap<Vec<u8>, (CheckpointId, String)>,
        execution: Execution,
    ) -> Result<Option<i64>, StorageError> {
        let first = roots
            .values()
            .min()
            .map(|(_, ts)| ts.as_str())
            .unwrap_or_default();
        let newest = roots
            .values()
            .max()
            .map(|(id, _)| place(id, thread))
            .unwrap_or_default();
        let words = |word: &str| word.as_bytes().to_vec();
        let epoch = words(&uuid::Uuid::new_v4().simple().to_string());
        let mut arguments = vec![
            words(thread.as_str()),
            epoch.clone(),
            at.epoch.clone(),
            at.changes.clone(),
            words(match execution {
                Execution::DryRun => "plan",
                Execution::Apply => "do",
            }),
            newest,
            words(first),
            words(&roots.len().to_string()),
            words(&round.checkpoints.len().to_string()),
        ];
        arguments.extend(round.checkpoints);
        arguments.push(words(&round.rows.len().to_string()));
        arguments.extend(round.rows.iter().map(|row| words(&row.to_string())));
        arguments.push(words(&round.rewritten.len().to_string()));
        arguments.extend(round.rewritten.into_iter().flat_map(|(key, text)| [key, text]));
        let keys = self.telling(self.keys.thread_and_lists(thread));
        let what = format!("pruning thread {thread}");
        let mut answer = parts(self.run(&REMOVE, keys, arguments, &what).await?).into_iter();
        let (Some(changes), Some(bytes)) = (answer.next(), answer.next()) else {
            return Ok(None);
        };
        if execution == Execution::Apply {
            *at = Facts {
                epoch,
                changes: bytes_of(changes),
            };
        }
        Ok(Some(number(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Vec<u8> {
        name.as_bytes().to_vec()
    }

    #[test]
    fn what_builds_on_something_goes_before_it() {
        let bases = [("b", "a"), ("c", "b"), ("d", "b"), ("f", "e")];
        let bases: HashMap<_, _> = bases.map(|(key_of, base)| (key(key_of), key(base))).into();
        let doomed: HashSet<_> = ["a", "b", "c", "d", "e", "f", "g"].map(key).into();
        let order = children_first(&doomed, &bases);
        assert_eq!(order.iter().collect::<HashSet<_>>(), doomed.iter().collect());
        let place = |of: &Vec<u8>| order.iter().position(|key| key == of);
        for (child, base) in &bases {
            assert!(place(child) < place(base), "{order:?}");
        }
    }

    #[test]
    fn a_row_goes_with_the_last_checkpoint_that_needs_it() {
        let round = |name: &str| Round {
            checkpoints: vec![key(name)],
            ..Round::default()
        };
        let mut rounds = vec![round("new"), round("middle"), round("old")];
        let named = [("new", vec![3]), ("middle", vec![2, 5]), ("old", vec![1, 4])];
        let named = named.map(|(name, rows)| (key(name), rows)).into();
        // 5 continues 3, which only the newest names, and 2 continues 1.
        let bases = HashMap::from([(5, 3), (3, 0), (2, 1), (1, 0)]);
        share_rows(&mut rounds, HashSet::from([1, 2, 3, 4, 5, 9]), &named, &bases);
        let mut rows: Vec<Vec<u64>> = rounds.into_iter().map(|round| round.rows).collect();
        rows.iter_mut().for_each(|rows| rows.sort_unstable());
        assert_eq!(rows, [vec![], vec![2, 3, 5], vec![1, 4], vec![9]]);
    }
}
