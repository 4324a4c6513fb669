//! Submissions to campaigns of the local setting, fed with foreign bytes.

use std::sync::LazyLock;

use privet::privacy::mechanism::local::LocalMessage;
use privet::setting::local::Campaign;

/// The files of one campaign of each kind.
pub const CAMPAIGNS: [&str; 4] = [
    "version = 1\nname = \"a\"\nepsilon = 1.0\nmessage = \"vector\"\ndimension = 5\nradius = 2.0\n",
    "version = 1\nname = \"b\"\nepsilon = 5.0\nmessage = \"coordinates\"\ndimension = 5\nradius = 2.0\n",
    "version = 1\nname = \"c\"\nepsilon = 1.0\nmessage = \"signs\"\ndimension = 11\nradius = 2.0\n",
    "version = 1\nname = \"d\"\nepsilon = 1.0\nmessage = \"category\"\ncategories = 12\n",
];

static READ: LazyLock<Vec<Campaign>> = LazyLock::new(|| {
    let read = |text: &&str| Campaign::read("campaign.toml", text).expect("a campaign");
    CAMPAIGNS.iter().map(read).collect()
});

/// A submission to each campaign: what is added is written again to the byte, and what is refused adds nothing. The bytes are also read as a
/// message without its frame, whose checksum would stop nearly all of them.
///
/// # Panics
/// If that does not hold.
pub fn submission(bytes: &[u8]) {
    for campaign in READ.iter() {
        added(campaign, bytes);
        if let Some(message) = LocalMessage::from_bytes(bytes) {
            added(campaign, &campaign.submission(&message));
        }
    }
}

fn added(campaign: &Campaign, bytes: &[u8]) {
    let mut sums = vec![0; campaign.sums()];
    match campaign.add(bytes, &mut sums) {
        Ok(message) => {
            assert_eq!(campaign.submission(&message), bytes);
            assert_eq!(bytes.len(), campaign.submission_bytes());
            assert!(campaign.means(&sums, 1).iter().all(|mean| mean.is_finite()));
        }
        Err(_) => assert!(sums.iter().all(|sum| *sum == 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else the corpus tests nothing but refusals.
    #[test]
    fn the_corpus_has_a_submission_to_each_campaign() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/submission");
        for (campaign, name) in READ.iter().zip(["a", "b", "c", "d"]) {
            let bytes = std::fs::read(format!("{folder}/{name}")).expect("a file");
            let mut sums = vec![0; campaign.sums()];
            campaign.add(&bytes, &mut sums).expect("a submission");
        }
    }
}
