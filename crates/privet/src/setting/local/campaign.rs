//! What a data user asks of all owners, fixed before the first of them answers.

use sha2::{Digest, Sha256};

use super::submission::{BadSubmission, Submission};
use crate::Error;
use crate::data::Document;
use crate::data::document::Section;
use crate::privacy::mechanism::local::{
    FrequencyOracle, KClosest, LocalMechanism, LocalMessage, SampledPiecewise, Signs,
};
use crate::privacy::texts::check_name;
use crate::privacy::{CampaignName, Epsilon, getters};

/// Codewords of a codebook, where a campaign does not say: a body of one byte.
const CODEWORDS: i64 = 256;
/// Characters of a campaign's name, at most.
const LONGEST_NAME: usize = 200;

/// A campaign's file, checked, with everything that follows from it.
///
/// ```
/// use privet::setting::local::Campaign;
///
/// let text = "version = 1\nname = \"steps\"\nepsilon = 1.0\nmessage = \"vector\"\ndimension = 50\nradius = 2.0\n";
/// let campaign = Campaign::read("campaign.toml", text)?;
/// assert_eq!(campaign.describe(), "the 89 nearest of 256 codewords in 50 dimensions, ε = 1");
/// assert_eq!(campaign.submission_bytes(), 31);
/// # Ok::<(), privet::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Campaign {
    name: String,
    digest: [u8; 32],
    message: Message,
    /// The largest length of a vector, or the largest size of a coordinate.
    radius: f64,
}

/// The kinds of messages that a campaign can ask for.
#[derive(Debug, Clone)]
pub enum Message {
    /// A vector in a ball.
    Vector(KClosest),
    /// A vector in a box, some coordinates of which are sent.
    Coordinates(SampledPiecewise),
    /// A vector in a box, of which all signs are sent.
    Signs(Signs),
    /// One of several categories.
    Category(FrequencyOracle),
}

/// Does the same with whichever mechanism it is.
macro_rules! each {
    ($message:expr, $mechanism:ident => $do:expr) => {
        match $message {
            Message::Vector($mechanism) => $do,
            Message::Coordinates($mechanism) => $do,
            Message::Signs($mechanism) => $do,
            Message::Category($mechanism) => $do,
        }
    };
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Vector,
    Coordinates,
    Signs,
    Category,
}

const KINDS: [(&str, Kind); 4] = [
    ("vector", Kind::Vector),
    ("coordinates", Kind::Coordinates),
    ("signs", Kind::Signs),
    ("category", Kind::Category),
];

impl Campaign {
    /// Reads a campaign's file; `file` stands for it in messages.
    ///
    /// # Errors
    /// [`Error::Data`] with everything that is wrong with it.
    pub fn read(file: &str, text: &str) -> Result<Self, Error> {
        let document = Document::parse(file, text)?;
        let root = document.root();
        if let Some(version) = root.required_integer("version", "1")
            && version.value != 1
        {
            root.finding_at(
                "version",
                format!("campaigns of version {} cannot be read: write 1", version.value),
            );
        }
        let name = root.required_text("name", "\"steps\"");
        if let Some(name) = &name
            && let Err(why) = check_name(&name.value, LONGEST_NAME)
        {
            root.finding_at("name", format!("name cannot be that: {why}"));
        }
        let message = message(&root);
        let radius = match message {
            Some(Message::Category(_)) | None => Some(1.0),
            Some(_) => root.required_number("radius", "1.0").map(|radius| radius.value),
        };
        if radius.is_some_and(|radius| !(radius.is_normal() && radius > 0.0)) {
            root.finding_at("radius", "radius must be a number above zero");
        }
        document.finish()?;
        let whole = name.zip(message).zip(radius);
        let ((name, message), radius) =
            whole.ok_or_else(|| Error::internal("what a file lacks is a finding"))?;
        Ok(Self {
            name: name.value,
            digest: Sha256::digest(text).into(),
            message,
            radius,
        })
    }

    getters! {
        /// Its name, for people.
        pub name(&name) -> &str;
        /// SHA-256 of its file: what an owner answers once.
        pub digest(digest) -> [u8; 32];
        /// What it asks for.
        pub message(&message) -> &Message;
        /// The largest length of a vector, or the largest size of a coordinate; one for categories.
        pub radius(radius) -> f64;
    }

    /// What an owner's ledger knows it by.
    pub(super) fn to_name(&self) -> CampaignName<'_> {
        CampaignName {
            name: &self.name,
            digest: self.digest,
        }
    }

    /// The ε of a whole message.
    pub fn epsilon(&self) -> Epsilon {
        each!(&self.message, mechanism => mechanism.epsilon())
    }

    /// The mechanism and its parameters in words.
    pub fn describe(&self) -> String {
        each!(&self.message, mechanism => mechanism.describe())
    }

    /// The bytes of a message's body.
    pub fn body_bytes(&self) -> usize {
        each!(&self.message, mechanism => mechanism.body_bytes())
    }

    /// The bytes of a submission: all of a campaign have as many.
    pub fn submission_bytes(&self) -> usize {
        Submission::bytes_for(self.body_bytes())
    }

    /// What an owner sends.
    pub fn submission(&self, message: &LocalMessage) -> Vec<u8> {
        Submission::new(&self.digest, message).to_bytes()
    }

    /// How many sums a collector keeps.
    pub fn sums(&self) -> usize {
        each!(&self.message, mechanism => mechanism.sums())
    }

    /// The message in a submission: one that this campaign's mechanism can draw. Whoever counts looks at its token before adding it.
    ///
    /// # Errors
    /// Why it is not a submission to this campaign.
    pub fn read_submission(&self, submission: &[u8]) -> Result<LocalMessage, BadSubmission> {
        let read = Submission::read(submission)?;
        if !read.is_to(&self.digest) {
            return Err(BadSubmission::OtherCampaign);
        }
        let message = read.into_message();
        let is_drawn = each!(&self.message, mechanism => mechanism.accepts(&message.body));
        is_drawn.then_some(message).ok_or(BadSubmission::Body)
    }

    /// Adds one message to the sums. False, and nothing is added, if the campaign's mechanism never draws such a body, or there are not
    /// [`sums`](Self::sums) of them.
    #[must_use]
    pub fn add(&self, message: &LocalMessage, sums: &mut [i64]) -> bool {
        each!(&self.message, mechanism => mechanism.add(&message.token, &message.body, sums))
    }

    /// The means that sums of so many messages estimate without bias, in the owners' own units.
    pub fn means(&self, sums: &[i64], messages: u64) -> Vec<f64> {
        let means = each!(&self.message, mechanism => mechanism.means(sums, messages));
        means.into_iter().map(|mean| mean * self.radius).collect()
    }
}

/// What the campaign asks for, if the file says it well.
fn message(root: &Section<'_>) -> Option<Message> {
    let epsilon = root.required_number("epsilon", "1.0").and_then(|epsilon| {
        let read = Epsilon::new(epsilon.value);
        read.inspect_err(|e| root.finding_at("epsilon", e.to_string()))
            .ok()
    });
    let kind = root.required_choice("message", &KINDS)?.value;
    let whole = |key: &str, example: &str| {
        let found = root.required_integer(key, example)?;
        let size = usize::try_from(found.value);
        if size.is_err() {
            root.finding_at(
                key,
                format!("{key} cannot be {}: write a number above zero", found.value),
            );
        }
        size.ok()
    };
    let made = match kind {
        Kind::Vector => {
            let codewords = root.integer("codewords").map_or(CODEWORDS, |found| found.value);
            let dimension = whole("dimension", "50");
            // What is below zero is refused as too few.
            let codewords = u64::try_from(codewords).unwrap_or(0);
            KClosest::new(epsilon?, dimension?, codewords).map(Message::Vector)
        }
        Kind::Coordinates => {
            let dimension = whole("dimension", "50");
            SampledPiecewise::new(epsilon?, dimension?).map(Message::Coordinates)
        }
        Kind::Signs => {
            let dimension = whole("dimension", "50");
            Signs::new(epsilon?, dimension?).map(Message::Signs)
        }
        Kind::Category => {
            let categories = whole("categories", "12");
            let chosen = FrequencyOracle::least_variance(epsilon?, categories?);
            chosen.map(|(oracle, _)| Message::Category(oracle))
        }
    };
    made.inspect_err(|e| root.finding(e.to_string())).ok()
}
