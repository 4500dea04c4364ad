//! Changes of connections and prices, after which open graphs are checked again: one that missed a connection does not any
//! more.

use std::sync::Arc;

use crate::Workbench;
use crate::base::blocking;
use crate::wire::{
    ConnectionList, ModelPrice, PriceList, Problem, RemoveConnection, RemovePrice, SaveConnection,
};

impl Workbench {
    async fn check_after<T>(self: &Arc<Self>, changed: Result<T, Problem>) -> Result<T, Problem> {
        let this = self.clone();
        // Also after an error: a part of the change may have been made.
        blocking(move || this.check_again()).await?;
        changed
    }

    pub(crate) async fn connections_save(
        self: &Arc<Self>,
        request: SaveConnection,
    ) -> Result<ConnectionList, Problem> {
        self.check_after(self.save_connection(request).await).await
    }

    pub(crate) async fn connections_remove(
        self: &Arc<Self>,
        request: RemoveConnection,
    ) -> Result<ConnectionList, Problem> {
        self.check_after(self.remove_connection(request).await).await
    }

    pub(crate) async fn prices_set(self: &Arc<Self>, request: ModelPrice) -> Result<PriceList, Problem> {
        self.check_after(self.set_price(request).await).await
    }

    pub(crate) async fn prices_remove(self: &Arc<Self>, request: RemovePrice) -> Result<PriceList, Problem> {
        self.check_after(self.remove_price(request).await).await
    }
}
