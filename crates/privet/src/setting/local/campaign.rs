//! What a data user asks of all owners, fixed before the first of them answers.

use sha2::{Digest, Sha256};

use super::encoding::Encoding;
use super::submission::{BadSubmission, Frame, Submission, prefix};
use crate::Error;
use crate::data::Document;
use crate::data::document::{Section, number, quoted};
use crate::privacy::mechanism::local::{
    FrequencyOracle, KClosest, LocalMechanism, LocalMessage, SampledCells, SampledPiecewise, Signs, Token,
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
    encoding: Option<Encoding>,
    round: Option<Round>,
}

/// The round that a campaign is, of a series of campaigns: each owner draws one round for itself, and answers no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// The name of the series.
    pub series: String,
    /// Its number, from one.
    pub number: u64,
    /// How many rounds there are.
    pub of: u64,
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
    /// A row of categories, of which one is sent.
    Cells(SampledCells),
}

/// Does the same with whichever mechanism it is.
macro_rules! each {
    ($message:expr, $mechanism:ident => $do:expr) => {
        match $message {
            Message::Vector($mechanism) => $do,
            Message::Coordinates($mechanism) => $do,
            Message::Signs($mechanism) => $do,
            Message::Category($mechanism) => $do,
            Message::Cells($mechanism) => $do,
        }
    };
}

impl Message {
    /// The mechanism and its parameters in words.
    pub fn describe(&self) -> String {
        each!(self, mechanism => mechanism.describe())
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Vector,
    Coordinates,
    Signs,
    Category,
    Cell,
}

const CELL: &str = "cell";

const KINDS: [(&str, Kind); 5] = [
    ("vector", Kind::Vector),
    ("coordinates", Kind::Coordinates),
    ("signs", Kind::Signs),
    ("category", Kind::Category),
    (CELL, Kind::Cell),
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
        // What is wrong with an encoding is said; what would follow from it is not.
        let before = root.findings();
        let encoding = match root.has("encoding") {
            true => Encoding::read(&document, &root),
            false => None,
        };
        let round = root.section("round").and_then(|section| Round::read(&section));
        let message = match root.findings() > before {
            true => {
                root.allow(&["epsilon", "message", "codewords"]);
                None
            }
            false => message(&root, encoding.as_ref()),
        };
        let radius = match message {
            None => {
                root.allow(&["radius"]);
                Some(1.0)
            }
            Some(Message::Category(_) | Message::Cells(_)) => Some(1.0),
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
            encoding,
            round,
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
        /// How rows become what is sent, if it says so.
        pub encoding(encoding.as_ref()) -> Option<&Encoding>;
        /// The round that it is, if it is one of several.
        pub round(round.as_ref()) -> Option<&Round>;
    }

    /// What an owner's ledger knows it by.
    pub(super) fn to_name(&self) -> CampaignName<'_> {
        CampaignName {
            name: &self.name,
            digest: self.digest,
            series: self.round.as_ref().map(|round| round.series.as_str()),
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

    /// The token of a submission to this campaign, without a copy of its body.
    #[inline]
    pub(super) fn check_frame(&self, submission: &[u8]) -> Result<Token, BadSubmission> {
        let frame = Frame::read(submission)?;
        if frame.campaign != prefix(&self.digest) {
            return Err(BadSubmission::OtherCampaign);
        }
        let is_drawn = each!(&self.message, mechanism => mechanism.accepts(frame.body));
        is_drawn.then_some(frame.token).ok_or(BadSubmission::Body)
    }

    /// The body of a submission that was checked.
    #[inline]
    pub(super) fn body<'f>(&self, submission: &'f [u8]) -> Option<&'f [u8]> {
        Frame::body(submission)
    }

    /// Adds messages that were checked.
    pub(super) fn add_all(&self, messages: &[(Token, &[u8])], sums: &mut [i64]) {
        each!(&self.message, mechanism => mechanism.add_all(messages, sums));
    }

    /// The largest size of one message in any estimated mean, before these are divided by the number of messages that they are estimated from, in the
    /// owners' own units: what somebody who makes up a message can do.
    pub fn influence(&self) -> f64 {
        each!(&self.message, mechanism => mechanism.influence()) * self.radius
    }

    /// Of so many messages, how many the mean is estimated from that has the fewest: for cells those about one column, else all.
    pub fn fewest(&self, sums: &[i64], messages: u64) -> u64 {
        each!(&self.message, mechanism => mechanism.fewest(sums, messages))
    }

    /// What a message says, in words; none if the campaign's mechanism never draws it.
    pub fn in_words(&self, message: &LocalMessage) -> Option<String> {
        each!(&self.message, mechanism => mechanism.in_words(&message.token, &message.body))
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

impl Round {
    /// Rounds of a series, at most.
    const MOST: i64 = 10_000;

    fn read(section: &Section<'_>) -> Option<Self> {
        let series = section.required_text("series", "\"steps 2026\"");
        let number = section.required_integer("number", "1");
        let of = section.required_integer("of", "10");
        let (series, number, of) = (series?.value, number?.value, of?.value);
        if let Err(why) = check_name(&series, LONGEST_NAME) {
            section.finding_at("series", format!("series cannot be that: {why}"));
        }
        if !(1..=Self::MOST).contains(&of) || !(1..=of).contains(&number) {
            let why = format!(
                "round {number} of {of} cannot be: rounds are counted from 1, and there are at most {}",
                Self::MOST
            );
            section.finding_at("number", why);
        }
        Some(Self {
            series,
            number: number.unsigned_abs(),
            of: of.unsigned_abs(),
        })
    }
}

/// A campaign's file, before it is written.
#[derive(Debug, Clone)]
pub struct CampaignDraft {
    /// Its name, for people.
    pub name: String,
    /// The ε of a whole message.
    pub epsilon: Epsilon,
    /// "vector", "coordinates", "signs"; or "cell", which needs no radius.
    pub kind: String,
    /// The largest length of a vector, or the largest size of a coordinate.
    pub radius: f64,
    /// Codewords of a codebook, for vectors.
    pub codewords: Option<u64>,
    /// How rows become what is sent.
    pub encoding: Encoding,
    /// The round that it is, if it is one of several.
    pub round: Option<Round>,
}

impl CampaignDraft {
    /// The text of its file: the same for the same draft. [`Campaign::read`] says whether it can be.
    pub fn to_toml(&self) -> String {
        let (name, message) = (quoted(&self.name), quoted(&self.kind));
        let mut text = format!(
            "version = 1\nname = {name}\nepsilon = {}\nmessage = {message}\n",
            self.epsilon
        );
        if self.kind != CELL {
            text += &format!("radius = {}\n", number(self.radius));
        }
        if let Some(codewords) = self.codewords {
            text += &format!("codewords = {codewords}\n");
        }
        if let Some(Round { series, number, of }) = &self.round {
            let series = quoted(series);
            text += &format!("\n[round]\nseries = {series}\nnumber = {number}\nof = {of}\n");
        }
        text + &self.encoding.write()
    }
}

/// What the campaign asks for, if the file says it well.
fn message(root: &Section<'_>, encoding: Option<&Encoding>) -> Option<Message> {
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
    let dimension = || match encoding {
        Some(encoding) => Some(encoding.width()),
        None => whole("dimension", "50"),
    };
    let cells = encoding.and_then(Encoding::cells);
    if cells.is_some() != matches!(kind, Kind::Cell) && (encoding.is_some() || matches!(kind, Kind::Cell)) {
        root.finding_at(
            "message",
            "message = \"cell\" goes with statistic = \"cell\" in [encoding], and any other with another",
        );
        return None;
    }
    let made = match kind {
        Kind::Vector => {
            let codewords = root.integer("codewords").map_or(CODEWORDS, |found| found.value);
            let dimension = dimension();
            // What is below zero is refused as too few.
            let codewords = u64::try_from(codewords).unwrap_or(0);
            KClosest::new(epsilon?, dimension?, codewords).map(Message::Vector)
        }
        Kind::Coordinates => {
            let dimension = dimension();
            SampledPiecewise::new(epsilon?, dimension?).map(Message::Coordinates)
        }
        Kind::Signs => {
            let dimension = dimension();
            Signs::new(epsilon?, dimension?).map(Message::Signs)
        }
        Kind::Category if encoding.is_some() => {
            root.finding_at(
                "message",
                "an encoding gives a vector or a cell: write \"vector\" or \"cell\"",
            );
            return None;
        }
        Kind::Category => {
            let categories = whole("categories", "12");
            let chosen = FrequencyOracle::least_variance(epsilon?, categories?);
            chosen.map(|(oracle, _)| Message::Category(oracle))
        }
        Kind::Cell => {
            let (columns, categories) = cells?;
            SampledCells::new(epsilon?, columns, categories).map(Message::Cells)
        }
    };
    made.inspect_err(|e| root.finding(e.to_string())).ok()
}
