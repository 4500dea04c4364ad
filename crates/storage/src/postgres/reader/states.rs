//! What rows of deltas and of values add up to.

use std::collections::HashMap;

use superstep::Value;
use tokio_postgres::Row;

use crate::codec::plan;
use crate::codec::record::Delta;
use crate::postgres::fault::PostgresFault;
use crate::postgres::names::Names;
use crate::postgres::parts::Library;

/// Versions and the rows of the values of one checkpoint.
pub(super) type PostgresState = plan::ChannelState<i64>;

/// Deltas by space and checkpoint, and the states they make.
#[derive(Default)]
pub(in crate::postgres) struct Deltas {
    rows: HashMap<(i64, String), DeltaLink>,
    states: HashMap<(i64, String), PostgresState>,
}

/// A delta in the chain of a checkpoint.
struct DeltaLink {
    parent: Option<String>,
    depth: i64,
    delta: Result<Delta, String>,
}

impl Deltas {
    pub(in crate::postgres) fn read(rows: &[Row]) -> Result<Self, PostgresFault> {
        let mut deltas = Deltas::default();
        for row in rows {
            let link = DeltaLink {
                parent: row.try_get(2)?,
                depth: row.try_get(3)?,
                delta: Delta::decode(row.try_get(4)?),
            };
            deltas.rows.insert((row.try_get(0)?, row.try_get(1)?), link);
        }
        Ok(deltas)
    }

    /// Returns every name that the deltas use.
    pub(in crate::postgres) fn names(&self) -> impl Iterator<Item = i64> {
        let deltas = self.rows.values().filter_map(|link| link.delta.as_ref().ok());
        deltas.flat_map(|delta| {
            let channels = delta.channels.iter().map(|(channel, ..)| *channel);
            let seen = delta.seen.iter().flat_map(|(node, versions)| {
                std::iter::once(*node).chain(versions.iter().flatten().map(|(channel, _)| *channel))
            });
            channels.chain(seen)
        })
    }

    /// Builds the state of a checkpoint from the nearest snapshot and the deltas after it.
    pub(in crate::postgres) fn state(
        &mut self,
        names: &Names,
        space: i64,
        id: &str,
    ) -> Result<PostgresState, String> {
        let mut chain = Vec::new();
        let mut at = (space, id.to_owned());
        let mut state = PostgresState::default();
        loop {
            if let Some(known) = self.states.get(&at) {
                state = known.clone();
                break;
            }
            let link = self
                .rows
                .get(&at)
                .ok_or("a checkpoint that it builds on is missing")?;
            let (depth, parent) = (link.depth, link.parent.clone());
            chain.push(at);
            match parent {
                _ if depth == 0 => break,
                Some(parent) if chain.len() <= self.rows.len() => at = (space, parent),
                _ => return Err("it does not build on an earlier checkpoint".to_owned()),
            }
        }
        while let Some(at) = chain.pop() {
            if let Some(link) = self.rows.get(&at) {
                let delta = link.delta.as_ref().map_err(String::clone)?;
                state.apply(delta, |row| names.expect(row), |row, _| (row != 0).then_some(row))?;
            }
            self.states.insert(at, state.clone());
        }
        Ok(state)
    }
}

/// Rows of values, and what they have been put together to.
#[derive(Default)]
pub(super) struct Items {
    rows: HashMap<i64, Item>,
    pub(super) values: HashMap<i64, Value>,
}

/// The row it builds on, the length of the list with it, the parts it names, its bytes, and the length of the JSON of
/// the whole value.
type Item = (Option<i64>, Option<i64>, Vec<i64>, Vec<u8>, i64);

impl Items {
    pub(super) fn read(rows: &[Row]) -> Result<Self, PostgresFault> {
        let mut items = Items::default();
        for row in rows {
            let parts: Option<Vec<i64>> = row.try_get(3)?;
            let item = (
                row.try_get(1)?,
                row.try_get(2)?,
                parts.unwrap_or_default(),
                row.try_get(4)?,
                row.try_get(5)?,
            );
            items.rows.insert(row.try_get(0)?, item);
        }
        Ok(items)
    }

    /// Returns the length of the JSON of the value that ends with a row that was read.
    pub(super) fn size(&self, row: i64) -> Option<i64> {
        self.rows.get(&row).map(|(.., size)| *size)
    }

    /// Builds the value that ends with this row.
    pub(super) fn value(&mut self, row: i64, library: &mut Library) -> Result<Value, String> {
        let mut chain = Vec::new();
        let mut at = row;
        let mut value = loop {
            if let Some(known) = self.values.get(&at) {
                break Some(known.clone());
            }
            let (base, ..) = self.rows.get(&at).ok_or("a part of it is missing")?;
            chain.push(at);
            match base {
                None => break None,
                Some(base) if chain.len() <= self.rows.len() => at = *base,
                Some(_) => return Err("its parts build on each other".to_owned()),
            }
        };
        while let Some(at) = chain.pop() {
            let Some((_, len, parts, data, _)) = self.rows.get(&at) else {
                continue;
            };
            let part = library.value(data, parts)?;
            let whole = match (value.take(), part) {
                (None, part) => part,
                (Some(Value::Array(mut list)), Value::Array(more)) => {
                    list.extend(more.iter().cloned());
                    Value::Array(list)
                }
                _ => return Err("items were added to something that is not a list".to_owned()),
            };
            if let Some(len) = len
                && whole
                    .as_array()
                    .is_none_or(|list| i64::try_from(list.len()) != Ok(*len))
            {
                return Err("the list has not the length it should have".to_owned());
            }
            self.values.insert(at, whole.clone());
            value = Some(whole);
        }
        Ok(value.unwrap_or_default())
    }
}
