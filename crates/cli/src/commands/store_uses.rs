//! `superstep store uses`: which steps read or wrote an item of long-term memory, and what it was at a moment.

use serde_json::{Value as Json, json};
use superstep::Value;
use superstep::run::iso8601;
use superstep::store::{StoreAnswer, StoreOp};
use superstep_workbench::wire::{FindUses, ItemUse, RecordedValueView, UseOfItem};

use crate::args::store::UsesArgs;
use crate::commands::search::{Searched, desk};
use crate::fault::Fault;
use crate::moment::moment;
use crate::out;
use crate::place::Store;

/// Letters of a value in a line.
const MAX_SHOWN: usize = 80;

pub(crate) async fn uses(args: UsesArgs) -> Result<(), Fault> {
    let desk = desk(&args.reading.db).await?;
    let mut request = FindUses {
        namespace: args.namespace.0.clone(),
        key: args.key.clone(),
        after: None,
        limit: args.limit.get(),
    };
    let (mut found, mut searched) = (Vec::new(), Searched::default());
    loop {
        let answer = desk.uses(&request).await?;
        found.extend(answer.uses);
        request.after = searched.add(answer.progress);
        let left = args.limit.get() as usize - found.len().min(args.limit.get() as usize);
        request.limit = u32::try_from(left).unwrap_or(u32::MAX);
        // What an item was at a moment may stand in any thread.
        if request.after.is_none() || (left == 0 && args.at.is_none()) {
            break;
        }
        request.limit = request.limit.max(1);
    }
    found.sort_by(|a: &ItemUse, b: &ItemUse| b.at.cmp(&a.at));
    let then = match &args.at {
        Some(text) => Some(at_moment(&args, &found, text).await?),
        None => None,
    };
    let all = found.len();
    found.truncate(args.limit.get() as usize);
    if args.reading.json {
        searched.end_line();
        let mut shown = json!({"uses": found});
        if let Some(then) = &then {
            shown["then"] = then.described();
        }
        return Ok(out::pretty(&shown)?);
    }
    searched.more = request.after.is_some() || all > found.len();
    searched.finish(found.len(), "use");
    if let Some(then) = &then {
        out::line(&then.line())?;
    }
    if found.is_empty() {
        return Ok(());
    }
    let row = |used: &ItemUse| {
        let path: Vec<&str> = used
            .within
            .iter()
            .chain([&used.node])
            .map(String::as_str)
            .collect();
        vec![
            used.at.clone(),
            word(used.action).to_owned(),
            path.join("/"),
            format!("{}@{}", used.thread_id, used.checkpoint_id),
            match used.action {
                UseOfItem::Removed => String::new(),
                _ => recorded(used.value.as_ref()),
            },
        ]
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    Ok(out::table(&["AT", "DONE", "NODE", "FROM", "VALUE"], &rows)?)
}

fn word(action: UseOfItem) -> &'static str {
    match action {
        UseOfItem::Read => "read",
        UseOfItem::Found => "found",
        UseOfItem::Written => "written",
        UseOfItem::Removed => "removed",
    }
}

fn recorded(value: Option<&RecordedValueView>) -> String {
    match value {
        None => "no such item".to_owned(),
        Some(RecordedValueView {
            value: Some(value), ..
        }) => out::short(value, MAX_SHOWN),
        Some(RecordedValueView {
            size: Some(size),
            hash: Some(hash),
            ..
        }) => format!("{size} bytes, not kept (hash {hash})"),
        Some(_) => "large, not kept".to_owned(),
    }
}

/// State of an item at a moment, as far as it is known.
enum Then {
    /// It has not been written since.
    Same(Json),
    /// As a step recorded it last before that.
    Recorded(Box<ItemUse>),
    Unknown,
}

impl Then {
    fn line(&self) -> String {
        match self {
            Self::Same(value) => format!("then: {} (the same as now)", out::short(value, MAX_SHOWN)),
            Self::Recorded(used) if used.action == UseOfItem::Removed => format!(
                "then: no such item, last removed by {} at {}; edits by hand after that are not recorded",
                used.node, used.at
            ),
            Self::Recorded(used) => format!(
                "then: {}, last {} by {} at {}; edits by hand after that are not recorded",
                recorded(used.value.as_ref()),
                word(used.action),
                used.node,
                used.at
            ),
            Self::Unknown => {
                "then: not known; no step recorded it before, and it was written since".to_owned()
            }
        }
    }

    fn described(&self) -> Json {
        match self {
            Self::Same(value) => json!({"known": "same", "value": value}),
            Self::Recorded(used) => json!({"known": "recorded", "use": used}),
            Self::Unknown => json!({"known": "unknown"}),
        }
    }
}

/// Determines what an item was at a moment: `uses` are all known uses, the newest first.
async fn at_moment(args: &UsesArgs, uses: &[ItemUse], text: &str) -> Result<Then, Fault> {
    let store = Store::existing(&args.reading.db).await?;
    let then = moment(&store, text).await?.head.ts;
    let get = StoreOp::Get {
        namespace: args.namespace.0.clone(),
        key: args.key.clone(),
        refresh_ttl: Some(false),
    };
    let answers = store.memory.batch(vec![get]).await?;
    let item = answers.into_iter().next().and_then(StoreAnswer::into_item);
    if let Some(item) = item.filter(|item| iso8601(item.updated_at) <= then) {
        return Ok(Then::Same(Json::from(&Value::Object(item.value))));
    }
    let before = uses.iter().find(|used| used.at <= then);
    Ok(before.map_or(Then::Unknown, |used| Then::Recorded(Box::new(used.clone()))))
}
