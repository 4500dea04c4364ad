//! Embedding again what another embedding made vectors of: without it, who changes the model finds nothing by meaning
//! that was put before.

use serde::{Deserialize, Serialize};

use super::config::{StoreConfig, VectorIndex};
use super::error::StoreError;
use super::items::ItemPlace;
use super::{Store, prepare};
use crate::checkpoint::progress::Progress;
use crate::value::{Object, Value};

/// Items that are asked for together.
const PAGE: usize = 512;
/// Items that are embedded together: this many texts, or a few more, are one request to a model.
const GROUP: usize = 64;

/// An item that a search by meaning passes over: its vectors are of another embedding, or it has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outdated {
    /// Where it is.
    pub place: ItemPlace,
    /// When its value was put: its name among the values of this place.
    pub updated_at: u64,
    /// Its value.
    pub value: Object,
    /// The paths that its put named, if it did.
    #[serde(rename = "said")]
    pub index_paths: Option<Vec<String>>,
}

/// New vectors for an item, if its value still is the one that was put at this time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewVectors {
    /// Where it is.
    pub place: ItemPlace,
    /// When the value was put that these are the vectors of.
    pub updated_at: u64,
    /// None when its paths lead nowhere.
    pub vectors: Vec<Vec<f32>>,
}

impl VectorIndex {
    /// Returns the name that vectors are filed under: those of different embeddings, or of another length, cannot be
    /// compared.
    pub fn embedding(&self) -> &str {
        self.embed.name()
    }
}

/// Embeds everything again that another embedding made vectors of, and what was put while the store had no index; says how
/// many items that were. What a put excluded stays excluded, and no item is taken for changed. It may be stopped at any
/// time, and goes on where it ended when it is called again.
pub(super) async fn reembed<S: Store + ?Sized>(store: &S, progress: &Progress) -> Result<u64, StoreError> {
    let Some(config) = store.config().filter(|config| config.index.is_some()) else {
        return Err(StoreError::Query(
            "the store has no vector index. Open it with one; a search by words needs none.".to_owned(),
        ));
    };
    let (mut after, mut done) = (None, 0);
    loop {
        let page = store.outdated(after.take(), PAGE).await?;
        let Some(last) = page.last() else { return Ok(done) };
        after = Some(last.place.clone());
        for group in page.chunks(GROUP) {
            progress.at(done, 0).map_err(StoreError::Storage)?;
            done += store
                .replace_vectors(new_vectors(config, group.to_vec()).await?)
                .await?;
        }
    }
}

async fn new_vectors(config: &StoreConfig, page: Vec<Outdated>) -> Result<Vec<NewVectors>, StoreError> {
    let mut texts = prepare::Texts::default();
    let mut wanted = Vec::with_capacity(page.len());
    for item in &page {
        let found = config.texts_of(&item.value, item.index_paths.as_deref())?;
        wanted.push(
            found
                .into_iter()
                .map(|text| texts.place(text))
                .collect::<Vec<_>>(),
        );
    }
    let vectors = config.embed(texts.all).await?;
    let renewed = page.into_iter().zip(wanted).map(|(item, wanted)| NewVectors {
        place: item.place,
        updated_at: item.updated_at,
        vectors: wanted.into_iter().map(|text| vectors[text].clone()).collect(),
    });
    Ok(renewed.collect())
}

impl StoreConfig {
    /// Returns the texts by which a value is embedded.
    fn texts_of(&self, value: &Object, paths: Option<&[String]>) -> Result<Vec<String>, StoreError> {
        let index = super::Index::of_paths(paths);
        Ok(self.sources(&index)?.read(&Value::Object(value.clone())).texts)
    }
}
