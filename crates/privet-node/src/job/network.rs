//! `[network]` of a job: who listens and where, and how long parties wait for each other.

use privet::data::Section;
use privet::parameters::whole;

use crate::net::Address;

/// How the parties of a job find each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// The name of the party that listens; all others dial it.
    pub listens: String,
    /// Where they dial it.
    pub address: Address,
    /// Seconds to wait for a party that is not connected.
    pub patience: u32,
    /// Seconds after which a run ends, whatever state it is in.
    pub deadline: u32,
}

/// The section, if it is there and nothing was found to be wrong with it.
pub(super) fn read(root: &Section<'_>) -> Option<Network> {
    let section = root.section("network")?;
    section.allow(&["patience", "deadline"]);
    let listens = section.required_text("listens", "\"miner\"");
    let address = section.required_text("address", "\"miner.example.org:7443\"");
    let address = address.and_then(|found| {
        let parsed = found.value.parse::<Address>();
        parsed
            .inspect_err(|e| section.finding_at("address", e.to_string()))
            .ok()
    });
    let seconds = |key: &str, default: u32| match section.has(key) {
        false => Some(default),
        true => {
            let found = whole::<u32>(&section, key)?;
            let fits = (1..=604_800).contains(&found);
            if !fits {
                section.finding_at(
                    key,
                    format!("{key} = {found} is invalid: write 1 to 604800 seconds"),
                );
            }
            fits.then_some(found)
        }
    };
    let (patience, deadline) = (seconds("patience", 600), seconds("deadline", 86_400));
    Some(Network {
        listens: listens?.value,
        address: address?,
        patience: patience?,
        deadline: deadline?,
    })
}
