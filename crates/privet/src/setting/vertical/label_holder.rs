//! The label holder: meets rows, gathers columns, and trains or predicts.

mod fitting;

use std::collections::BTreeMap;

use privet_mpc::psi;

use super::joined::{Joined, Joining, Own};
use super::message::{Meeting, Message, Ordinals, Question, Wanted};
use super::own::{NoisyLabels, Terms, protects};
use super::purse::purse;
use super::release::Release;
use super::{Alignment, Outcome, Party, Protocol, Vertical, asking, meeting, packed};
use crate::Error;
use crate::boost::gradient::Boosted;
use crate::data::Table;
use crate::data::schema::{Column, Label};
use crate::model::{Model, Settings};
use crate::party::{Context, PartyId, RunName, TurnOutcome};
use crate::privacy::{Certificate, Ledger, Neighbours, PartyCertificate, Unprotected};
use fitting::Fitting;

/// The party that has the labels, by what it waits for.
pub struct LabelHolder(State);

enum State {
    Ready(Box<Ready>),
    ExpectAnswers(Box<Expecting<psi::ExpectAnswer, psi::Pair>>),
    ExpectColumns(Box<Expecting<(), Came>>),
    Training(Box<Fitting>),
    /// As published only.
    ExpectThresholds(Box<Expecting<(), Vec<Vec<[u16; 2]>>>>, Box<asking::Ranked>),
}

struct Ready {
    vertical: Vertical,
    table: Table,
    terms: Terms,
    goal: Goal,
}

/// What the columns are for.
enum Goal {
    Train,
    /// To be given to this model; or only the answers to its questions.
    Predict {
        model: Box<Model>,
        branches: bool,
    },
}

/// What all feature holders were asked, and what they have said so far.
struct Expecting<A, C> {
    run: Going,
    asked: BTreeMap<PartyId, A>,
    came: BTreeMap<PartyId, C>,
}

/// What a label holder knows all along.
struct Going {
    vertical: Vertical,
    own: Own,
    certificate: Certificate,
    goal: Goal,
    /// What each feature holder is asked, if it is asked questions.
    questions: BTreeMap<PartyId, Vec<Question>>,
    /// The label holder's rows that are common, by their numbers in its table.
    rows: Vec<usize>,
}

enum Came {
    Columns(Box<Release>),
    Ordinals(Box<Ordinals>),
    Answers {
        answers: Vec<Vec<u16>>,
        certificate: Box<Certificate>,
    },
}

impl LabelHolder {
    /// A label holder whose own rows and labels train the model as they are: whoever sees it may learn about them.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the parameters do not fit the table's schema.
    pub fn party(vertical: Vertical, table: Table, leave: Unprotected) -> Result<Party, Error> {
        vertical.check_label_holder(table.schema())?;
        if vertical.label_epsilon.is_some() {
            return Err(Error::misuse("labels that change are paid for from a ledger"));
        }
        Ok(Self::ready(
            vertical,
            table,
            Terms::Open(Box::new(leave)),
            Goal::Train,
        ))
    }

    /// A label holder whose labels change before they are used, and whose own columns are public.
    ///
    /// # Errors
    /// As [`party`](Self::party).
    pub fn with_noisy_labels<N: Neighbours>(
        vertical: Vertical,
        table: Table,
        ledger: Ledger<N>,
        run: &RunName,
    ) -> Result<Party, Error> {
        protects(&vertical, table.schema(), &ledger.relation().relation())?;
        let purse = purse(ledger, run)?;
        let terms = Terms::Noisy { purse, labels: None };
        Ok(Self::ready(vertical, table, terms, Goal::Train))
    }

    /// As [`with_noisy_labels`](Self::with_noisy_labels), with labels that changed before. The ledger is for what the meeting of rows shows.
    ///
    /// # Errors
    /// As [`party`](Self::party), and [`Error::Data`] if they are not this table's.
    pub fn with_kept_labels<N: Neighbours>(
        vertical: Vertical,
        table: Table,
        labels: NoisyLabels,
        ledger: Ledger<N>,
        run: &RunName,
    ) -> Result<Party, Error> {
        let relation = ledger.relation().relation();
        protects(&vertical, table.schema(), &relation)?;
        labels.check(&vertical, table.rows_under(&relation))?;
        let purse = purse(ledger, run)?;
        let labels = Some(Box::new(labels));
        Ok(Self::ready(
            vertical,
            table,
            Terms::Noisy { purse, labels },
            Goal::Train,
        ))
    }

    /// A label holder that has a model, and new rows of which others hold some columns. They send these, changed; or, with
    /// `branches`, only say which rows go left at the model's questions, and so learn what it asks.
    pub fn predicting(
        vertical: Vertical,
        table: Table,
        model: Model,
        branches: bool,
        leave: Unprotected,
    ) -> Party {
        let goal = Goal::Predict {
            model: Box::new(model),
            branches,
        };
        Self::ready(vertical, table, Terms::Open(Box::new(leave)), goal)
    }

    fn ready(vertical: Vertical, table: Table, terms: Terms, goal: Goal) -> Party {
        Self::next(State::Ready(Box::new(Ready {
            vertical,
            table,
            terms,
            goal,
        })))
    }

    fn next(state: State) -> Party {
        Party::LabelHolder(Self(state))
    }

    pub(super) fn start(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Party>, Error> {
        let State::Ready(ready) = self.0 else {
            return Err(Error::internal("a party starts once"));
        };
        let Ready {
            vertical,
            table,
            terms,
            goal,
        } = *ready;
        let brought = terms.bring(&vertical, table, context)?;
        let others = context.others();
        let questions = match &goal {
            Goal::Predict {
                model,
                branches: true,
            } => asking::questions(model, &brought.own.schema, others.len())?,
            _ => vec![Vec::new(); others.len()],
        };
        let run = Going {
            vertical,
            rows: (0..brought.own.cells.rows()).collect(),
            own: brought.own,
            certificate: brought.certificate,
            goal,
            questions: others.iter().copied().zip(questions).collect(),
        };
        match run.vertical.alignment {
            Alignment::Given => {
                let rows = run.own.cells.rows() as u64;
                for &party in &others {
                    context.send(party, &run.hello(party, Meeting::Given { rows }));
                }
                Ok(run.expect_columns(&others))
            }
            Alignment::Private => {
                let ids = meeting::checked(&brought.ids.unwrap_or_default())?;
                let mut asked = BTreeMap::new();
                for &party in &others {
                    let what = format!("the key of the meeting with {}", party.0);
                    let key = meeting::key(&what, context)?;
                    let (expected, offer) = psi::offer(&key, meeting::run(context.run(), party), &ids);
                    meeting::same(&format!("the offer to {}", party.0), &offer, context)?;
                    asked.insert(party, expected);
                    context.send(party, &run.hello(party, Meeting::Offer(offer)));
                }
                let came = BTreeMap::new();
                let expecting = Expecting { run, asked, came };
                Ok(TurnOutcome::Continue(Self::next(State::ExpectAnswers(Box::new(
                    expecting,
                )))))
            }
        }
    }

    pub(super) fn handle(
        self,
        from: PartyId,
        message: Message,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        match (self.0, message) {
            (State::ExpectAnswers(mut expecting), Message::Answer(answer)) => {
                let asked = expecting.asked.remove(&from);
                let asked = asked.ok_or_else(|| context.complain(from, "it has answered already"))?;
                let pair = asked.receive(&answer).map_err(|e| context.complain(from, e))?;
                expecting.came.insert(from, pair);
                if expecting.asked.is_empty() {
                    return expecting.settle(context);
                }
                Ok(TurnOutcome::Continue(Self::next(State::ExpectAnswers(expecting))))
            }
            (State::ExpectColumns(mut expecting), message) => {
                let came = expecting.run.take(from, message, context)?;
                if expecting.asked.remove(&from).is_none() {
                    return Err(context.complain(from, "it has sent its columns already"));
                }
                expecting.came.insert(from, came);
                if expecting.asked.is_empty() {
                    return expecting.gathered(context);
                }
                Ok(TurnOutcome::Continue(Self::next(State::ExpectColumns(expecting))))
            }
            (State::ExpectThresholds(mut expecting, ranked), Message::Thresholds(pairs)) => {
                if expecting.asked.remove(&from).is_none() {
                    return Err(context.complain(from, "it has sent its thresholds already"));
                }
                expecting.came.insert(from, pairs);
                if !expecting.asked.is_empty() {
                    return Ok(TurnOutcome::Continue(Self::next(State::ExpectThresholds(
                        expecting, ranked,
                    ))));
                }
                let Expecting { run, came, .. } = *expecting;
                let model = ranked.finish(came, context)?;
                run.model(model.0, model.1, model.2)
            }
            (_, message) => Err(context.complain(from, format!("{} out of turn", message.name()))),
        }
    }

    pub(super) fn resume(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Party>, Error> {
        match self.0 {
            State::Training(fitting) => fitting.piece(context),
            _ => Err(Error::internal("only training is work that goes on in pieces")),
        }
    }

    pub(super) fn waits_for(&self) -> Vec<PartyId> {
        match &self.0 {
            State::Ready(_) | State::Training(_) => Vec::new(),
            State::ExpectAnswers(expecting) => expecting.asked.keys().copied().collect(),
            State::ExpectColumns(expecting) => expecting.asked.keys().copied().collect(),
            State::ExpectThresholds(expecting, _) => expecting.asked.keys().copied().collect(),
        }
    }
}

impl Expecting<psi::ExpectAnswer, psi::Pair> {
    fn settle(mut self: Box<Self>, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Party>, Error> {
        let (parties, pairs): (Vec<PartyId>, Vec<psi::Pair>) =
            std::mem::take(&mut self.came).into_iter().unzip();
        let (rows, told) = psi::settle(pairs)
            .map_err(|e| Error::internal(format!("all parties met by the same list of ids ({e})")))?;
        if rows.is_empty() {
            return Err(Error::data(
                "the parties have no id in common, so there is nothing to learn from: check that all write ids alike, and that each \
                 job names the right column",
            ));
        }
        for (party, common) in parties.iter().zip(told) {
            context.send(*party, &Message::Common(common));
        }
        let Self { mut run, .. } = *self;
        run.own = run.own.take(&rows);
        run.rows = rows;
        Ok(run.expect_columns(&parties))
    }
}

impl Going {
    fn hello(&self, to: PartyId, meeting: Meeting) -> Message {
        let wanted = match (&self.goal, self.vertical.protocol) {
            (Goal::Predict { branches: true, .. }, _) => {
                Wanted::Branches(self.questions.get(&to).cloned().unwrap_or_default())
            }
            (Goal::Train, Protocol::AsPublished) => Wanted::Ordinals,
            _ => Wanted::Columns,
        };
        Message::Hello {
            settings: self.vertical.shared(),
            wanted,
            meeting,
        }
    }

    fn expect_columns(self, parties: &[PartyId]) -> TurnOutcome<Party> {
        let asked = parties.iter().map(|party| (*party, ())).collect();
        let came = BTreeMap::new();
        let expecting = Expecting {
            run: self,
            asked,
            came,
        };
        TurnOutcome::Continue(LabelHolder::next(State::ExpectColumns(Box::new(expecting))))
    }

    /// What a feature holder sent, if it is what was asked for.
    fn take(&self, from: PartyId, message: Message, context: &Context<'_, Message>) -> Result<Came, Error> {
        let rows = self.own.cells.rows();
        let wrong = |why: &str| Err(context.complain(from, why));
        let as_published =
            self.vertical.protocol == Protocol::AsPublished && matches!(self.goal, Goal::Train);
        match (message, &self.goal) {
            (Message::Columns(release), Goal::Train | Goal::Predict { branches: false, .. })
                if !as_published =>
            {
                if release.rows != rows {
                    return wrong("columns that have not as many rows as are common");
                }
                if let Err(why) = release.check_promised(&self.vertical.desensitisation) {
                    return wrong(why);
                }
                Ok(Came::Columns(release))
            }
            (Message::Ordinals(ordinals), Goal::Train) if as_published => {
                if ordinals.ranks.iter().any(|ranks| ranks.len() != rows) {
                    return wrong("ranks that have not as many rows as are common");
                }
                if let Err(why) = ordinals.release.check_promised(&self.vertical.desensitisation) {
                    return wrong(why);
                }
                Ok(Came::Ordinals(ordinals))
            }
            (
                Message::Branches {
                    rows: told,
                    answers,
                    certificate,
                },
                Goal::Predict { branches: true, .. },
            ) => {
                let asked = self.questions.get(&from).map_or(0, Vec::len);
                if told != rows as u64 || answers.len() != asked {
                    return wrong("answers that are not as many as rows and questions");
                }
                let unpacked = answers.iter().map(|bits| packed::unpack(bits, rows, 2));
                let answers = unpacked
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(|e| context.complain(from, e))?;
                let certificate = Certificate::from_json(&certificate)
                    .ok_or_else(|| context.complain(from, "a certificate that cannot be read"))?;
                let certificate = Box::new(certificate);
                Ok(Came::Answers { answers, certificate })
            }
            (message, _) => wrong(&format!("{} out of turn", message.name())),
        }
    }

    fn label(&self) -> Option<(Column, Label)> {
        let schema = match &self.goal {
            Goal::Train => &self.own.schema,
            Goal::Predict { model, .. } => model.schema(),
        };
        schema
            .label()
            .map(|(column, label)| (column.clone(), label.clone()))
    }

    /// The model, with what every party says of its part.
    fn model(
        self,
        joined: Joined,
        boosted: Boosted,
        parties: Vec<PartyCertificate>,
    ) -> Result<TurnOutcome<Party>, Error> {
        let certificate = Certificate {
            parties,
            ..self.certificate
        };
        let settings = Settings::new(self.vertical.settings());
        let model = Model::new(joined.schema, boosted.into_ensemble(), certificate, settings)?;
        Ok(TurnOutcome::Finished(Outcome::Trained(Box::new(model))))
    }
}

impl Expecting<(), Came> {
    /// Everything is there: one table of it.
    fn gathered(self: Box<Self>, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Party>, Error> {
        let Self { run, came, .. } = *self;
        let mut joining = Joining::new(run.own.clone(), run.label());
        let (mut parties, mut ranks) = (Vec::new(), Vec::new());
        for (party, came) in came {
            let said = |certificate| PartyCertificate {
                party: context.name(party).to_owned(),
                certificate,
            };
            let added = match came {
                Came::Columns(release) => {
                    parties.push(said(release.certificate.clone()));
                    joining.add(*release)
                }
                Came::Ordinals(ordinals) => {
                    parties.push(said(ordinals.release.certificate.clone()));
                    let added = joining.add_ranks(&ordinals);
                    ranks.push((party, ordinals.release));
                    added
                }
                Came::Answers { answers, certificate } => {
                    parties.push(said(*certificate));
                    let questions = run.questions.get(&party).map_or(&[][..], Vec::as_slice);
                    joining.add_answers(questions, answers)
                }
            };
            added.map_err(|e| context.complain(party, e))?;
        }
        match &run.goal {
            Goal::Predict { model, branches } => {
                let asked: Vec<Question> = run.questions.values().flatten().cloned().collect();
                let model = if *branches {
                    asking::rewritten(model, &run.own.schema, &asked, &joining.join()?)?
                } else {
                    let joined = joining.join()?;
                    if let Some(why) = joined.schema.differs(model.schema()) {
                        return Err(Error::data(format!(
                            "these are not the columns of the model: {why}"
                        )));
                    }
                    (Model::clone(model), joined.cells)
                };
                let predictions = model.0.predict_cells(&model.1)?;
                Ok(TurnOutcome::Finished(Outcome::Predicted {
                    rows: run.rows,
                    predictions: Box::new(predictions),
                }))
            }
            Goal::Train => {
                let joined = joining.join()?;
                let gradient = run.vertical.trees.gradient(&joined.schema)?;
                gradient.check(&joined.schema)?;
                let own = run.own.schema.features().count();
                let fitting = Fitting {
                    run,
                    joined,
                    gradient,
                    boosted: None,
                    parties,
                    ranks: asking::Ranks { own, releases: ranks },
                };
                Ok(TurnOutcome::Working(LabelHolder::next(State::Training(
                    Box::new(fitting),
                ))))
            }
        }
    }
}
