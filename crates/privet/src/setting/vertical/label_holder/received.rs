//! What a feature holder sends, if it is what was asked for.

use super::{Goal, Run};
use crate::Error;
use crate::party::{Context, PartyId};
use crate::privacy::Certificate;
use crate::privacy::mechanism::ordered::Distance;
use crate::setting::vertical::Protocol;
use crate::setting::vertical::message::{Message, Ordinals, Question};
use crate::setting::vertical::packed::Packed;
use crate::setting::vertical::release::{Release, claimed};
use crate::wire::Wire;

pub(super) enum Received {
    Columns(Box<Release>),
    Ordinals(Box<Ordinals>),
    Answers {
        answers: Vec<Packed>,
        certificate: Box<Certificate>,
    },
}

impl Received {
    /// The message that it came in; answers to questions are not part of any state that is handed over.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Columns(release) => Message::Columns(release.clone()).to_bytes(),
            Self::Ordinals(ordinals) => Message::Ordinals(ordinals.clone()).to_bytes(),
            Self::Answers { .. } => Vec::new(),
        }
    }

    /// What its sender promises.
    pub(super) fn certificate(&self) -> &Certificate {
        match self {
            Self::Columns(release) => &release.certificate,
            Self::Ordinals(ordinals) => &ordinals.release.certificate,
            Self::Answers { certificate, .. } => certificate,
        }
    }
}

impl Run {
    /// What a feature holder sent, if it is what was asked for.
    pub(super) fn received(
        &self,
        from: PartyId,
        message: Message,
        context: &Context<'_, Message>,
    ) -> Result<Received, Error> {
        let (rows, vertical) = (self.rows.len(), &self.plan.vertical);
        let wrong = |why: &str| Err(context.complain(from, why));
        let promised = |release: &Release| {
            let checked = release.check_promised(&vertical.desensitisation);
            checked.map_err(|why| context.complain(from, why))
        };
        let (trains, branches) = match self.goal {
            Goal::Train => (true, false),
            Goal::Predict { branches, .. } => (false, branches),
        };
        let as_published = trains && vertical.protocol == Protocol::AsPublished;
        match message {
            Message::Columns(release) if !as_published && !branches => {
                if release.rows != rows {
                    return wrong("columns that have not as many rows as are common");
                }
                promised(&release)?;
                Ok(Received::Columns(release))
            }
            Message::Ordinals(ordinals) if as_published => {
                if ordinals.ranks.iter().any(|ranks| ranks.len() != rows) {
                    return wrong("ranks that have not as many rows as are common");
                }
                promised(&ordinals.release)?;
                Ok(Received::Ordinals(ordinals))
            }
            Message::Branches {
                rows: told,
                answers,
                certificate,
            } if branches => {
                let asked = self.questions.get(&from).map_or(0, Vec::len);
                if told != rows as u64 || answers.len() != asked {
                    return wrong("answers that are not as many as rows and questions");
                }
                let read = answers.iter().map(|bits| Packed::read(bits, rows, 2));
                let answers = read
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(|e| context.complain(from, e))?;
                let certificate = Certificate::from_json(&certificate)
                    .ok_or_else(|| context.complain(from, "a certificate that cannot be read"))?;
                self.check_answered(from, &certificate)
                    .map_err(|why| context.complain(from, why))?;
                let certificate = Box::new(certificate);
                Ok(Received::Answers { answers, certificate })
            }
            message => wrong(&format!("{} out of turn", message.name())),
        }
    }

    /// That a certificate speaks of the columns that were asked about, each once, and claims the losses that follow from what was agreed on and
    /// from what the model knows of the columns.
    fn check_answered(&self, from: PartyId, certificate: &Certificate) -> Result<(), String> {
        let (Goal::Predict { model, .. }, Some(claimed)) = (&self.goal, claimed(certificate)?) else {
            return Ok(());
        };
        for Question { column, .. } in self.questions.get(&from).into_iter().flatten() {
            if claimed.iter().filter(|claim| claim.column == *column).count() != 1 {
                return Err(format!(
                    "a certificate that does not speak of the column '{column}' once"
                ));
            }
        }
        let sent = claimed.len();
        let known = |claim: &Distance| model.schema().features().find(|known| known.name == claim.column);
        for claim in claimed {
            if let Some(known) = known(claim) {
                self.plan
                    .vertical
                    .desensitisation
                    .check_loss(known, sent, claim)?;
            }
        }
        Ok(())
    }
}
