//! The memory backends of the engine pass the suites.

use std::sync::Arc;

use superstep::{Checkpointer, MemorySaver, MemoryStore, Store};
use superstep_suites::Report;

fn accepted(report: &Report, least: usize) {
    assert!(report.is_ok(), "{report}");
    assert!(report.passed.len() >= least, "the suite has shrunk: {report}");
}

#[tokio::test]
async fn the_saver_passes_every_suite_that_it_offers() {
    let make = async || Arc::new(MemorySaver::new()) as Arc<dyn Checkpointer>;
    let report = superstep_suites::run(&make).await;
    let report = report.and(superstep_suites::run_maintenance(&make).await);
    let report = report.and(superstep_suites::run_claims(&make).await);
    accepted(&report, 100);
}

#[tokio::test]
async fn the_store_passes_its_suite() {
    let make = async |config| Arc::new(MemoryStore::with_config(config)) as Arc<dyn Store>;
    accepted(&superstep_suites::store::run(&make).await, 40);
}
