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

/// A submission to each campaign: what is read can be added and is written again to the byte, and what is refused adds nothing. The bytes are also read as a
/// message without its frame, whose checksum would stop nearly all of them.
///
/// # Panics
/// If that does not hold.
pub fn submission(bytes: &[u8]) {
    for campaign in READ.iter() {
        read(campaign, bytes);
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
    assert!(campaign.means(&sums, 1).iter().all(|mean| mean.is_finite()));
    true
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
            campaign.read_submission(&bytes).expect("a submission");
        }
    }
}
