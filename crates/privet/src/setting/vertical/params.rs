//! Parameters of the setting.

use super::desensitisation::Desensitisation;
use crate::Error;
use crate::boost::gradient::Trees;
use crate::parameters::{Parameters, Value, named_values, parameters, plain_values, readable};
use crate::privacy::Epsilon;

parameters! {
    /// Trees over columns of several parties.
    pub struct Vertical("vertical") {
        /// Which messages parties send.
        protocol: Protocol = Protocol::Columns;
        /// How rows of different parties are matched.
        alignment: Alignment = Alignment::Private;
        /// How feature holders change their columns before they send them. Its ε must be given.
        desensitisation: Desensitisation = Desensitisation::default();
        /// The ε of randomised response on labels; without it, labels are used as they are.
        label_epsilon: Option<Epsilon> = None;
        /// The trees; the defaults are the paper's: 80 rounds at 0.1, depth 3.
        trees: Trees = Trees { rounds: 80, depth: Some(3), ..Trees::default() };
    } where Self::agree
}

readable! {
    Vertical { protocol: Protocol, alignment: Alignment, desensitisation: Desensitisation, label_epsilon: Option<Epsilon>, trees: Trees }
}

named_values! {
    /// Which messages parties send.
    pub enum Protocol {
        /// Feature holders send their columns and what they mean, and receive nothing.
        Columns = "columns",
        /// Feature holders send ranks; the label holder asks for the values at its splits, which tells them about labels.
        AsPublished = "as_published",
    }

    /// How rows of different parties are matched.
    pub enum Alignment {
        /// By private set intersection of their ids.
        Private = "private",
        /// They are in the same order already.
        Given = "given",
    }
}

// Each has a section of its own in a job.
plain_values! {
    Desensitisation: |_, _| None, |_| None, |own: &Self, _| Parameters::settings(own);
    Trees: |_, _| None, |_| None, |own: &Self, _| own.filled().settings();
}

impl Vertical {
    fn agree(&self) -> Result<(), Error> {
        self.desensitisation.check()?;
        self.trees.check()?;
        if self.label_epsilon == Some(Epsilon::ZERO) {
            return Err(Error::parameter(
                "label_epsilon",
                "label_epsilon = 0 is invalid: write a number above zero",
            ));
        }
        Ok(())
    }

    /// What the jobs of all parties must say alike, as names and values.
    pub fn shared(&self) -> Vec<(String, String)> {
        let mut all = self.protocol.named("protocol");
        all.extend(self.alignment.named("alignment"));
        all.extend(self.desensitisation.settings());
        all
    }

    /// Names and values as a job says them, defaults included.
    pub fn settings(&self) -> Vec<(String, String)> {
        let own = ("setting".to_owned(), "vertical".to_owned());
        [own].into_iter().chain(Parameters::settings(self)).collect()
    }
}
