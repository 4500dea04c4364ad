//! Long-term memory as a person sees it: what is there, changed by hand. Looking at an item does not give it its full time
//! to live again, as a node's reading may.

pub(crate) mod embedding;
pub(crate) mod reembedding;

use std::sync::Arc;

use superstep::Value;
use superstep::run::iso8601;
use superstep::store::{Item, NamespaceQuery, Ranking, StoreOp, StoreQuery};

use crate::Workbench;
use crate::base::values;
use crate::wire::{
    Empty, FoundBy, ItemList, ItemRef, ItemView, ListItems, ListNamespaces, NamespaceList, Problem, PutItem,
};
use superstep_document::text;

/// Namespaces of one answer.
const MAX_NAMESPACES: usize = 500;
/// Items of one answer, when nobody says how many, and at most.
const ITEMS: (usize, usize) = (50, 500);

/// Converts an item for interfaces; `view` converts its value.
fn shown(item: Item, view: impl Fn(&Value) -> crate::wire::ValueView) -> ItemView {
    ItemView {
        namespace: item.namespace,
        key: item.key,
        value: view(&Value::Object(item.value)),
        created_at: iso8601(item.created_at),
        updated_at: iso8601(item.updated_at),
        expires_at: item.expires_at.map(iso8601),
    }
}

fn whole(item: Item) -> ItemView {
    shown(item, |value| values::part(value, 0, 0))
}

/// Takes one more than are asked for, to say whether there are more.
fn page<T>(mut found: Vec<T>, limit: usize) -> (Vec<T>, bool) {
    let more = found.len() > limit;
    found.truncate(limit);
    (found, more)
}

fn gone(item: &ItemRef) -> Problem {
    Problem::not_found(text!(
        "There is no item {key} in {namespace}.",
        key = format!("{:?}", item.key),
        namespace = item.namespace.join(".")
    ))
    .remedy(text!(
        "It may have been removed, or its time may have passed; look at the list again."
    ))
}

impl Workbench {
    async fn item(&self, at: &ItemRef) -> Result<Option<Item>, Problem> {
        let get = StoreOp::Get {
            namespace: at.namespace.clone(),
            key: at.key.clone(),
            refresh_ttl: Some(false),
        };
        let answers = self.store().batch(vec![get]).await?;
        Ok(answers
            .into_iter()
            .next()
            .and_then(superstep::store::StoreAnswer::into_item))
    }

    pub(crate) async fn store_namespaces(
        self: &Arc<Self>,
        request: ListNamespaces,
    ) -> Result<NamespaceList, Problem> {
        let query = NamespaceQuery::default()
            .limit(MAX_NAMESPACES + 1)
            .offset(request.offset.unwrap_or(0) as usize);
        let found = self.store().list_namespaces(query).await?;
        let (namespaces, more) = page(found, MAX_NAMESPACES);
        Ok(NamespaceList { namespaces, more })
    }

    pub(crate) async fn store_items(self: &Arc<Self>, request: ListItems) -> Result<ItemList, Problem> {
        let limit = request
            .limit
            .map_or(ITEMS.0, |limit| limit as usize)
            .clamp(1, ITEMS.1);
        let mut query = StoreQuery::default()
            .prefix(request.namespace)
            .by(request.by.map_or(Ranking::Auto, |by| match by {
                FoundBy::Words => Ranking::Words,
                FoundBy::Vectors => Ranking::Vectors,
            }))
            .limit(limit + 1)
            .offset(request.offset.unwrap_or(0) as usize)
            .refresh_ttl(false);
        query.query = request.query.filter(|query| !query.trim().is_empty());
        let found = self.store().search(query).await?;
        let (found, more) = page(found, limit);
        let items = found.into_iter().map(|item| shown(item, values::view)).collect();
        Ok(ItemList { items, more })
    }

    pub(crate) async fn store_get(self: &Arc<Self>, at: ItemRef) -> Result<ItemView, Problem> {
        self.item(&at).await?.map(whole).ok_or_else(|| gone(&at))
    }

    pub(crate) async fn store_put(self: &Arc<Self>, request: PutItem) -> Result<ItemView, Problem> {
        let at = ItemRef {
            namespace: request.namespace,
            key: request.key,
        };
        let there = self.item(&at).await?.map(|item| iso8601(item.updated_at));
        match (&there, &request.replaces) {
            (None, Some(_)) => return Err(gone(&at)),
            (Some(_), None) => {
                return Err(Problem::new(
                    "conflict",
                    text!("There is an item {key} already.", key = format!("{:?}", at.key)),
                )
                .remedy(text!("Open that one, or choose another key.")));
            }
            (Some(now), Some(then)) if now != then => {
                return Err(Problem::new(
                    "conflict",
                    text!(
                        "The item {key} was changed meanwhile.",
                        key = format!("{:?}", at.key)
                    ),
                )
                .remedy(text!("Look at what it holds now, then change it again.")));
            }
            _ => {}
        }
        let labels: Vec<&str> = at.namespace.iter().map(String::as_str).collect();
        let put = StoreOp::put(&labels, at.key.clone(), request.value.into())?;
        self.store().batch(vec![put]).await?;
        self.store_get(at).await
    }

    pub(crate) async fn store_delete(self: &Arc<Self>, at: ItemRef) -> Result<Empty, Problem> {
        let labels: Vec<&str> = at.namespace.iter().map(String::as_str).collect();
        self.store().delete(&labels, &at.key).await?;
        Ok(Empty {})
    }
}
