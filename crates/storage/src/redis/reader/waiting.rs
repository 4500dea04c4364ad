//! Questions that wait, read from two sorted lists (`waiting.lua`), and what tasks wrote.

use std::collections::HashMap;

use superstep::checkpoint::{CheckpointAddress, PendingWrite, StorageError, Waiting, WaitingQuery};
use superstep::{CheckpointId, ThreadId};

use super::{PAGE, corrupt, pending};
use crate::redis::server::{Server, WRITES, bytes, number, parts, placed};
use crate::redis::state::{index_key, index_parts};

const WHAT: &str = "listing questions that wait";
/// What both lists say of everything older releases stored is here.
const FILLED: &str = "asked";

/// Encodes a thread for the lists, so that no byte of it is zero.
fn marked(thread: &ThreadId) -> Vec<u8> {
    thread.as_str().bytes().map(|byte| byte + 1).collect()
}

fn unmarked(mark: &[u8]) -> Option<ThreadId> {
    let name = mark.iter().map(|byte| byte.wrapping_sub(1)).collect();
    Some(String::from_utf8(name).ok()?.into())
}

/// Parses a task in the first list, as checkpoint, thread and time; in the second, thread and checkpoint are swapped.
fn member(member: &[u8], by_thread: bool) -> Option<(CheckpointId, ThreadId, String)> {
    let mut first = member.splitn(3, |byte| *byte == 0);
    let (a, b, rest) = (first.next()?, first.next()?, first.next()?);
    let (id, mark) = if by_thread { (b, a) } else { (a, b) };
    let time = rest.rsplit(|byte| *byte == 0).next()?;
    let words = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    Some((words(id)?.into(), unmarked(mark)?, words(time)?))
}

impl Server {
    pub(in crate::redis) async fn count_waiting(&self) -> Result<u64, StorageError> {
        let mut gone = 0;
        for thread in self.sweep().await? {
            let start = [marked(&thread), vec![0]].concat();
            let mut ask = redis::cmd("ZLEXCOUNT");
            ask.arg(self.keys.of_all("asking"))
                .arg([b"[", start.as_slice()].concat())
                .arg([b"(", start.as_slice(), &[0xff]].concat());
            gone += number(self.call(ask, WHAT).await?);
        }
        let mut ask = redis::cmd("ZCARD");
        ask.arg(self.keys.of_all("waiting"));
        Ok((number(self.call(ask, WHAT).await?) - gone).unsigned_abs())
    }

    pub(in crate::redis) async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError> {
        let gone = self.sweep().await?;
        let limit = query.limit.unwrap_or(usize::MAX);
        let list = if query.thread.is_some() {
            "asking"
        } else {
            "waiting"
        };
        let (mut from, until) = range(query);
        let mut found: Vec<Waiting> = Vec::new();
        // One more than wanted says that the tasks of the last one wanted are all there.
        while found.len() <= limit && limit > 0 {
            let page = PAGE.max(limit.saturating_add(1).min(8 * PAGE));
            let mut ask = redis::cmd("ZRANGE");
            ask.arg(self.keys.of_all(list)).arg(&from).arg(&until);
            ask.arg("BYLEX").arg("LIMIT").arg(0).arg(page);
            let members = parts(self.call(ask, WHAT).await?).into_iter().map(bytes);
            let members: Vec<Vec<u8>> = members.collect();
            let Some(last) = members.last() else { break };
            from = [b"(", last.as_slice()].concat();
            for (id, thread, ts) in members
                .iter()
                .filter_map(|one| member(one, query.thread.is_some()))
            {
                match found.last_mut() {
                    Some(last) if last.checkpoint == id && last.thread == thread => last.tasks += 1,
                    _ if gone.contains(&thread) => {}
                    _ => found.push(Waiting {
                        thread,
                        checkpoint: id,
                        ts,
                        tasks: 1,
                        is_newest: false,
                    }),
                }
            }
            if members.len() < page {
                break;
            }
        }
        found.truncate(limit);
        self.say_newest(&mut found).await?;
        Ok(found)
    }

    /// Says of each whether it is the newest of its thread.
    async fn say_newest(&self, found: &mut [Waiting]) -> Result<(), StorageError> {
        for page in found.chunks_mut(8 * PAGE) {
            let mut ask = redis::cmd("HMGET");
            ask.arg(self.keys.of_all("threads"));
            for one in page.iter() {
                ask.arg(one.thread.as_str());
            }
            let places = parts(self.call(ask, WHAT).await?).into_iter().map(bytes);
            for (one, place) in page.iter_mut().zip(places) {
                one.is_newest = placed(&place).is_some_and(|(head, _)| head == one.checkpoint);
            }
        }
        Ok(())
    }

    pub(in crate::redis) async fn writes(
        &self,
        of: &[CheckpointAddress],
    ) -> Result<Vec<Vec<PendingWrite>>, StorageError> {
        let mut all = Vec::with_capacity(of.len());
        for page in of.chunks(PAGE) {
            let keys = page.iter().map(|address| self.keys.of("writes", &address.thread));
            let places = page.iter().map(|address| index_key(&address.ns, &address.id));
            let answer = self
                .run(
                    &WRITES,
                    keys.collect(),
                    places.collect(),
                    "reading what tasks wrote",
                )
                .await?;
            for (lines, address) in parts(answer).into_iter().zip(page) {
                let lines: Vec<Vec<u8>> = parts(lines).into_iter().map(bytes).collect();
                let found = pending(&lines);
                all.push(found.map_err(|cause| corrupt(&address.thread, &address.id, cause))?);
            }
        }
        Ok(all)
    }

    /// Returns the root checkpoints of a thread with tasks that asked or have failed.
    pub(in crate::redis) async fn asked(&self, thread: &ThreadId) -> Result<Vec<CheckpointId>, StorageError> {
        let mut ask = redis::cmd("HKEYS");
        ask.arg(self.keys.of("open", thread));
        let keys = parts(self.call(ask, WHAT).await?).into_iter().map(bytes);
        let places = keys.filter_map(|key| index_parts(&key));
        Ok(places.filter(|(ns, _)| ns.is_empty()).map(|(_, id)| id).collect())
    }

    /// Returns whether the questions that older releases stored are in the lists.
    pub(in crate::redis) async fn is_filled(&self) -> Result<bool, StorageError> {
        let mut ask = redis::cmd("EXISTS");
        ask.arg(self.keys.of_all(FILLED));
        Ok(number(self.call(ask, WHAT).await?) > 0)
    }

    pub(in crate::redis) async fn set_filled(&self) -> Result<(), StorageError> {
        let mut set = redis::cmd("SET");
        set.arg(self.keys.of_all(FILLED)).arg(1);
        self.call(set, WHAT).await.map(drop)
    }

    /// Checks whether the lists differ from the tasks of a thread.
    pub(in crate::redis) async fn is_listed_wrong(&self, thread: &ThreadId) -> Result<bool, StorageError> {
        let query = WaitingQuery::new().thread(thread.clone());
        let listed = self.waiting(&query).await?.into_iter();
        let listed: HashMap<CheckpointId, u32> = listed.map(|one| (one.checkpoint, one.tasks)).collect();
        let asked = self.asked(thread).await?;
        let mut counted = HashMap::new();
        for page in asked.chunks(PAGE) {
            let keys: Vec<Vec<u8>> = page.iter().map(|id| index_key("", id)).collect();
            for (_, head) in self.heads_of(thread, &keys).await? {
                if head.interrupted > 0 {
                    counted.insert(head.id, head.interrupted);
                }
            }
        }
        Ok(counted != listed)
    }
}

/// Returns where a query begins in the list that it is read from, and where it ends.
fn range(query: &WaitingQuery) -> (Vec<u8>, Vec<u8>) {
    let after = query.after.as_ref();
    let Some(thread) = &query.thread else {
        let from = after.map(|(id, thread)| {
            let place = [id.as_str().as_bytes(), b"\0", &marked(thread)].concat();
            [b"(".as_slice(), &place, b"\0\xff"].concat()
        });
        return (from.unwrap_or_else(|| b"-".to_vec()), b"+".to_vec());
    };
    let start = [marked(thread).as_slice(), b"\0"].concat();
    let from = match after {
        None => [b"[".as_slice(), &start].concat(),
        // Equal ids are in the order of their threads.
        Some((id, of)) if thread > of => [b"[".as_slice(), &start, id.as_str().as_bytes(), b"\0"].concat(),
        Some((id, _)) => [b"(".as_slice(), &start, id.as_str().as_bytes(), b"\0\xff"].concat(),
    };
    (from, [b"(".as_slice(), &start, b"\xff"].concat())
}
