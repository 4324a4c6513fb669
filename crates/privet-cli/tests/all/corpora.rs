//! The fuzz corpora of tables and jobs on stable, cut short and with bytes changed.

use privet_research::decoders::{job, table};
use privet_testkit::decoders::replay;

#[test]
fn tables_and_jobs_are_decoded_without_a_panic() {
    replay("table", table);
    replay("job", job);
}
