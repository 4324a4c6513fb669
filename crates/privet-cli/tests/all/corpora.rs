//! The fuzz corpora of tables, jobs and connections on stable, cut short and with bytes changed.

use privet_research::decoders::{job, network, table};
use privet_testkit::decoders::replay;

use crate::handler::handler;

#[test]
fn tables_jobs_and_connections_are_decoded_without_a_panic() {
    replay("table", table);
    replay("job", job);
    replay("network", network);
}

#[test]
fn no_party_panics_at_what_its_connections_bring() {
    replay("handler", handler);
}
