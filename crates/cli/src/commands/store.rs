//! `superstep store`: what graphs remember across threads.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::Value as Json;
use superstep::Value;
use superstep::checkpoint::{Progress, StorageError};
use superstep::run::iso8601;
use superstep::store::{Item, NamespaceQuery, StoreAnswer, StoreError, StoreOp, StoreQuery, Ttl};

use super::store_uses;
use crate::args::store::{
    ItemArgs, Namespace, NamespacesArgs, PutArgs, RemoveArgs, SearchArgs, StoreAction, StoreArgs,
};
use crate::confirm::confirm;
use crate::fault::{Fault, STOPPED};
use crate::out::{self, quoted};
use crate::place::Store;

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Storage(error) => error.into(),
            error @ StoreError::Embedding { .. } => Fault::failed(error.to_string()),
            // The rest is about what was typed.
            error => Fault::usage(error.to_string()),
        }
    }
}

pub(crate) async fn store(args: StoreArgs) -> Result<(), Fault> {
    match args.action.unwrap_or(StoreAction::List(args.list)) {
        StoreAction::List(args) => list(&args).await,
        StoreAction::Search(args) => search(args).await,
        StoreAction::Get(args) => get(&args).await,
        StoreAction::Uses(args) => store_uses::uses(args).await,
        StoreAction::Put(args) => put(args).await,
        StoreAction::Delete(args) => delete(&args).await,
        StoreAction::Sweep(args) => {
            let removed = Store::existing(&args.db).await?.memory.sweep().await?;
            out::note(&format!("Removed {}.", out::count(removed, "item")));
            Ok(())
        }
        StoreAction::Embed(args) => embed(&Store::existing(&args.db).await?).await,
    }
}

/// Time between two reports of progress.
const REPORT_EVERY: Duration = Duration::from_secs(2);

async fn embed(store: &Store) -> Result<(), Fault> {
    if store.memory.config().is_none_or(|config| config.index.is_none()) {
        return Err(Fault::usage(
            "Memory is searched by words here, which needs no vectors. Choose in the app's Settings, Storage and memory, \
             what a search finds items by.",
        ));
    }
    let progress = Progress::default();
    let stop = {
        let progress = progress.clone();
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                progress.stop();
            }
        })
    };
    let last = Mutex::new((Instant::now(), 0));
    let watch = |done: u64, _: u64| {
        let mut last = last.lock();
        if last.0.elapsed() >= REPORT_EVERY {
            out::note(&format!("{} so far", out::count(done, "item")));
            last.0 = Instant::now();
        }
        last.1 = done;
        true
    };
    let outcome = progress.follow(store.memory.reembed(&progress), &watch).await;
    stop.abort();
    match outcome {
        Ok(done) => out::note(&format!("Embedded {} again.", out::count(done, "item"))),
        Err(StoreError::Storage(StorageError::Stopped)) => {
            let done = last.into_inner().1;
            out::note(&format!(
                "Stopped after {}. Go on with: superstep store embed{}",
                out::count(done, "item"),
                store.option
            ));
            return Err(Fault::quiet(STOPPED));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Says that there is what a search by meaning cannot find. A damaged item elsewhere does not fail the search.
async fn note_outdated(store: &Store) {
    if matches!(store.memory.outdated(None, 1).await, Ok(items) if !items.is_empty()) {
        out::note(&format!(
            "Some items have no vectors of the model that is chosen now, and are not found by it. Make them with: \
             superstep store embed{}",
            store.option
        ));
    }
}

async fn list(args: &NamespacesArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    let query = NamespaceQuery::default()
        .prefix(args.under.clone().map(|under| under.0).unwrap_or_default())
        .suffix(args.suffix.clone().map(|suffix| suffix.0).unwrap_or_default())
        .max_depth(args.depth.map(Into::into))
        .limit(args.limit.get())
        .offset(args.offset);
    let found = store.memory.list_namespaces(query).await?;
    if args.reading.json {
        return Ok(out::pretty(&found)?);
    }
    if found.is_empty() {
        let all = args.under.is_none() && args.suffix.is_none() && args.offset == 0;
        out::note(&match all {
            true => format!("Nothing is remembered in {}.", store.name),
            false => format!("No namespace in {} is like that.", store.name),
        });
    }
    for labels in &found {
        out::line(&Namespace::text(labels))?;
    }
    Ok(())
}

async fn search(args: SearchArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    let mut query = StoreQuery::default()
        .prefix(args.under.map(|under| under.0).unwrap_or_default())
        .filter(args.filter.unwrap_or(Value::Null))
        .limit(args.limit.get())
        .offset(args.offset)
        .refresh_ttl(false);
    query.query = args.query;
    let by_meaning = query.query.as_deref().is_some_and(|query| !query.is_empty());
    let found = store.memory.search(query).await?;
    if by_meaning {
        note_outdated(&store).await;
    }
    if args.reading.json {
        return Ok(out::pretty(&found.iter().map(described).collect::<Vec<_>>())?);
    }
    if found.is_empty() {
        out::note(&format!("Nothing was found in {}.", store.name));
        return Ok(());
    }
    let row = |item: &Item| {
        vec![
            Namespace::text(&item.namespace),
            item.key.clone(),
            iso8601(item.updated_at),
            out::short(&Json::from(&Value::Object(item.value.clone())), 80),
        ]
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    Ok(out::table(&["NAMESPACE", "KEY", "UPDATED", "VALUE"], &rows)?)
}

fn described(item: &Item) -> Json {
    Json::from(&item.to_json())
}

async fn get(args: &ItemArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    let item = item(&store, &args.namespace, &args.key).await?;
    let shown = match args.reading.json {
        true => described(&item),
        false => Json::from(&Value::Object(item.value)),
    };
    Ok(out::pretty(&shown)?)
}

/// Reads an item that must exist.
async fn item(store: &Store, namespace: &Namespace, key: &str) -> Result<Item, Missing> {
    let get = StoreOp::Get {
        namespace: namespace.0.clone(),
        key: key.to_owned(),
        refresh_ttl: Some(false),
    };
    let answers = store.memory.batch(vec![get]).await?;
    answers
        .into_iter()
        .next()
        .and_then(StoreAnswer::into_item)
        .ok_or_else(|| {
            let place = Namespace::text(&namespace.0);
            Missing::NoItem(Fault::usage(format!(
                "There is no item {key:?} in {place}. Find items with `superstep store search {}{}`.",
                quoted(&place),
                store.option
            )))
        })
}

/// Reason why there is no item to show.
enum Missing {
    NoItem(Fault),
    Storage(StoreError),
}

impl From<StoreError> for Missing {
    fn from(error: StoreError) -> Self {
        Self::Storage(error)
    }
}

impl From<Missing> for Fault {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::NoItem(fault) => fault,
            Missing::Storage(error) => error.into(),
        }
    }
}

async fn put(args: PutArgs) -> Result<(), Fault> {
    let store = Store::open(&args.db).await?;
    let ttl = args.minutes.map_or(Ttl::Default, |minutes| {
        Ttl::For(Duration::from_secs(60 * u64::from(minutes)))
    });
    let put = StoreOp::put(&args.namespace.labels(), args.key, args.value)?.living(ttl);
    store.memory.batch(vec![put]).await?;
    Ok(())
}

async fn delete(args: &RemoveArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.db).await?;
    // All or none: a wrong name is found before anything is gone.
    for key in &args.keys {
        match item(&store, &args.namespace, key).await {
            // One that cannot be read is there, and may go.
            Ok(_) | Err(Missing::Storage(StoreError::Storage(StorageError::Corrupt { .. }))) => {}
            Err(missing) => return Err(missing.into()),
        }
    }
    let question = format!("Remove {} for good?", out::count(args.keys.len() as u64, "item"));
    confirm(args.yes, "Removing", &question)?;
    let labels = args.namespace.labels();
    let ops = args.keys.iter().map(|key| StoreOp::delete(&labels, key.clone()));
    store.memory.batch(ops.collect()).await?;
    Ok(())
}
