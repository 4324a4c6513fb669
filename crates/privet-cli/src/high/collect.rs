//! Campaigns of the local setting, as they were typed.

use std::io::Write;
use std::path::PathBuf;

use privet::setting::local::Share;
use privet_node::verb::{Collect, Collecting, Contribute, Failure, LedgerFile};

use crate::low::{self, CollectVerb, Patience};

pub(super) fn contribute_of(
    low: low::Contribute,
    place: &dyn Fn(Option<PathBuf>, &Patience) -> LedgerFile,
) -> Result<Contribute, Failure> {
    Ok(Contribute {
        campaign: low.campaign,
        data: low.data,
        out: low.out,
        ledger: place(low.ledger.ledger, &low.patience),
    })
}

pub(super) fn collect_of(low: low::Collect) -> Result<Collect, Failure> {
    if let Some(CollectVerb::Merge(merge)) = low.verb {
        return Ok(Collect::Merge {
            files: merge.files,
            out: merge.out,
        });
    }
    let (Some(campaign), Some(out)) = (low.campaign, low.out) else {
        return Err(Failure::usage("a campaign and --out FILE are needed"));
    };
    let threads = match low.threads {
        Some(threads) => threads.into(),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    Ok(Collect::Messages(Collecting {
        campaign,
        from: low.from,
        out,
        most: low.most,
        share: low.share.as_deref().map_or(Ok(Share::ALL), share)?,
        threads,
        batch: low.batch as usize,
        durable: |bytes| {
            // Nobody may be listening.
            let _ = writeln!(std::io::stderr(), "durable: {bytes} bytes");
        },
    }))
}

fn share(text: &str) -> Result<Share, Failure> {
    let numbers = text.split_once('/');
    let numbers = numbers.and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    let Some((number, of)) = numbers else {
        return Err(Failure::usage(format!(
            "--share {text}: write which of how many, such as 1/4"
        )));
    };
    Ok(Share::new(number, of)?)
}
