//! Submissions to campaigns of the local setting, fed with foreign bytes.

use std::sync::LazyLock;

use privet::privacy::mechanism::local::LocalMessage;
use privet::setting::local::{Campaign, Collected, Collector, Share};
use privet::wire::Wire;

/// The files of one campaign of each kind.
pub const CAMPAIGNS: [&str; 5] = [
    "version = 1\nname = \"a\"\nepsilon = 1.0\nmessage = \"vector\"\ndimension = 5\nradius = 2.0\n",
    "version = 1\nname = \"b\"\nepsilon = 5.0\nmessage = \"coordinates\"\ndimension = 5\nradius = 2.0\n",
    "version = 1\nname = \"c\"\nepsilon = 1.0\nmessage = \"signs\"\ndimension = 11\nradius = 2.0\n",
    "version = 1\nname = \"d\"\nepsilon = 1.0\nmessage = \"category\"\ncategories = 12\n",
    "version = 1\nname = \"e\"\nepsilon = 1.0\nmessage = \"cell\"\n[schema]\ndataset = \"e\"\n[schema.columns]\n\
     age = { type = \"number\", min = 0, max = 9, bins = 3 }\nill = { type = \"label\", values = [\"no\", \"yes\"] }\n\
     [encoding]\nstatistic = \"cell\"\n",
];

static READ: LazyLock<Vec<Campaign>> = LazyLock::new(|| {
    let read = |text: &&str| Campaign::read("campaign.toml", text).expect("a campaign");
    CAMPAIGNS.iter().map(read).collect()
});

/// Collections of one campaign, as sums of what others say.
fn collected(campaign: &Campaign, bytes: &[u8]) {
    let before = Collected::new(campaign, Share::ALL);
    let mut collector = Collector::new(campaign, before, 1000, 1).expect("a collector");
    let mut tokens = Vec::new();
    let whole = bytes.len() / campaign.submission_bytes();
    let done = collector.fold(bytes, &mut tokens);
    assert_eq!(done, whole * campaign.submission_bytes());
    let collected = collector.collected();
    assert_eq!(collected.messages() + collected.refused().all(), whole as u64);
    assert_eq!(tokens.len() as u64, 16 * collected.messages());
    let file = collected.to_file();
    assert_eq!(Collected::from_file("a file", &file).as_ref(), Ok(collected));
    // What somebody else wrote, also behind a right checksum.
    let _ = Collected::from_file("a file", bytes);
    if let Ok(read) = Collected::from_bytes(bytes) {
        assert_eq!(read.to_bytes(), bytes);
        let _ = (read.merge(collected), read.means(campaign));
    }
}

/// A submission to each campaign, alone and as a file of several: what is read can be added and is written again to the byte, and what is refused adds nothing. The bytes are also read as a
/// message without its frame, whose checksum would stop nearly all of them.
///
/// # Panics
/// If that does not hold.
pub fn submission(bytes: &[u8]) {
    for campaign in READ.iter() {
        read(campaign, bytes);
        collected(campaign, bytes);
        if let Some(message) = LocalMessage::from_bytes(bytes) {
            let mut sums = vec![0; campaign.sums()];
            let is_added = campaign.add(&message, &mut sums);
            assert!(is_added || sums.iter().all(|sum| *sum == 0));
            assert_eq!(read(campaign, &campaign.submission(&message)), is_added);
        }
    }
}

/// Whether it is a submission to the campaign.
fn read(campaign: &Campaign, bytes: &[u8]) -> bool {
    let Ok(message) = campaign.read_submission(bytes) else {
        return false;
    };
    assert_eq!(campaign.submission(&message), bytes);
    assert_eq!(bytes.len(), campaign.submission_bytes());
    let mut sums = vec![0; campaign.sums()];
    assert!(campaign.add(&message, &mut sums));
    let means = campaign.means(&sums, 1);
    let most = campaign.influence() * (1.0 + 1e-9);
    assert!(means.iter().all(|mean| mean.abs() <= most), "{means:?}");
    assert!(campaign.in_words(&message).is_some());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else the corpus tests nothing but refusals.
    #[test]
    fn the_corpus_has_a_submission_to_each_campaign() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/submission");
        for (campaign, name) in READ.iter().zip(["a", "b", "c", "d", "e"]) {
            let bytes = std::fs::read(format!("{folder}/{name}")).expect("a file");
            campaign.read_submission(&bytes).expect("a submission");
        }
    }
}
