//! The label holder: matches rows, gathers columns, and trains or predicts.

mod expected;
mod fitting;
mod predicting;
mod received;
mod restoring;

use std::collections::BTreeMap;

use privet_mpc::psi;

use super::asking::{self, RankedModel, Thresholds};
use super::checkpoint::Settled;
use super::columns::READS;
use super::joined::{Joined, Joining, OwnRows};
use super::message::{Meeting, Message, Question, Wanted};
use super::own::Terms;
use super::{Alignment, LabelHolderPlan, Outcome, Party, Protocol, meeting};
use crate::Error;
use crate::boost::gradient::Boosted;
use crate::data::schema::Column;
use crate::data::{Names, Table};
use crate::model::{Model, Settings};
use crate::party::{Context, PartyId, RunName, TurnOutcome};
use crate::privacy::{Certificate, Ledger, Neighbours, PartyCertificate, Unprotected};
use fitting::Fitting;
pub(super) use predicting::fits;
use received::Received;

/// The party that has the labels, by what it waits for.
pub struct LabelHolder(Stage);

enum Stage {
    Ready(Box<Ready>),
    ExpectAnswers(Box<Expecting<psi::ExpectAnswer, psi::Pair>>),
    ExpectColumns(Box<Expecting<(), Received>>),
    Training(Box<Fitting>),
    /// As published only.
    ExpectThresholds(Box<Expecting<(), Thresholds>>, Box<RankedModel>),
}

struct Ready {
    plan: LabelHolderPlan,
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

/// What all feature holders were asked, and what they have sent so far.
struct Expecting<A, C> {
    run: Run,
    asked: BTreeMap<PartyId, A>,
    came: BTreeMap<PartyId, C>,
}

/// What a label holder knows from the first message to the last.
struct Run {
    plan: LabelHolderPlan,
    own: OwnRows,
    certificate: Certificate,
    goal: Goal,
    /// What each feature holder is asked, if it is asked questions.
    questions: BTreeMap<PartyId, Vec<Question>>,
    /// The label holder's rows that are common, by their numbers in its table.
    rows: Vec<usize>,
    /// Whether its state can be handed over: what it brings is made again without drawing anything.
    restores: bool,
    /// A digest of its ids, if rows are matched by them.
    ids: Option<[u8; 32]>,
}

impl LabelHolder {
    /// A label holder whose own rows and labels train the model as they are: whoever sees it may learn about them.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the table was read with another schema than the plan's, or if labels change by the plan.
    pub fn party(plan: LabelHolderPlan, table: Table, permission: Unprotected) -> Result<Party, Error> {
        if plan.vertical.label_epsilon.is_some() {
            return Err(Error::misuse("labels that change are paid for from a ledger"));
        }
        Self::ready(plan, table, Terms::Open(Box::new(permission)), Goal::Train)
    }

    /// A label holder whose labels change before they are used, and whose own columns are public. It uses the labels that its ledger
    /// has kept; if it has kept none, they are paid for, drawn and kept when the run starts.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the table was read with another schema than the plan's, or the budget does not protect the labels;
    /// [`Error::Parameter`] if labels do not change by the plan.
    pub fn with_noisy_labels<N: Neighbours>(
        plan: LabelHolderPlan,
        table: Table,
        ledger: Ledger<N>,
        run: &RunName,
    ) -> Result<Party, Error> {
        plan.labels(&ledger.relation().relation())?;
        let ledger = Box::new(ledger.at_run_time().for_run(run.to_text())?);
        Self::ready(plan, table, Terms::Noisy(ledger), Goal::Train)
    }

    /// A label holder that has a model, and new rows of which others hold some columns. They send these, changed; or, with
    /// `branches`, only say which rows go left at the model's questions, and so learn what it asks.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the table was read with another schema than the plan's.
    pub fn predicting(
        plan: LabelHolderPlan,
        table: Table,
        model: Model,
        branches: bool,
        permission: Unprotected,
    ) -> Result<Party, Error> {
        let model = Box::new(model);
        let goal = Goal::Predict { model, branches };
        Self::ready(plan, table, Terms::Open(Box::new(permission)), goal)
    }

    fn ready(plan: LabelHolderPlan, table: Table, mut terms: Terms, goal: Goal) -> Result<Party, Error> {
        let leaks = match &goal {
            Goal::Train => plan.leaks(),
            Goal::Predict { branches, .. } => plan.leaks_of_predicting(*branches),
        };
        if let Terms::Open(permission) = &mut terms {
            permission.check_shown(&leaks)?;
        }
        match &goal {
            Goal::Train => plan.check(&table)?,
            // The label of new rows need not be there.
            _ => table.is_of(plan.schema(), READS)?,
        }
        let relation = match &terms {
            Terms::Open(_) => plan.relation(),
            Terms::Noisy(ledger) => ledger.relation(),
        };
        plan.vertical.check_rows(table.rows_under(relation))?;
        let ready = Ready {
            plan,
            table,
            terms,
            goal,
        };
        Ok(Self::next(Stage::Ready(Box::new(ready))))
    }

    fn next(stage: Stage) -> Party {
        Party::LabelHolder(Self(stage))
    }

    fn wait(stage: Stage) -> Result<TurnOutcome<Party>, Error> {
        Ok(TurnOutcome::Continue(Self::next(stage)))
    }

    /// What it knows before the first message, and its ids.
    fn begin(self, context: &mut Context<'_, Message>) -> Result<(Run, Option<Names>), Error> {
        let Stage::Ready(ready) = self.0 else {
            return Err(Error::internal("a party starts once"));
        };
        let Ready {
            plan,
            table,
            terms,
            goal,
        } = *ready;
        let restores = matches!(terms, Terms::Open(_));
        let brought = terms.bring(&plan, table, context)?;
        let others = context.others();
        let questions = match &goal {
            Goal::Predict {
                model,
                branches: true,
            } => asking::questions(model, &brought.own.schema, others.len())?,
            _ => vec![Vec::new(); others.len()],
        };
        let run = Run {
            plan,
            rows: (0..brought.own.cells.rows()).collect(),
            own: brought.own,
            certificate: brought.certificate,
            goal,
            questions: others.iter().copied().zip(questions).collect(),
            restores,
            ids: brought.ids.as_ref().map(meeting::digest),
        };
        Ok((run, brought.ids))
    }

    pub(super) fn start(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Party>, Error> {
        let (run, ids) = self.begin(context)?;
        let others = context.others();
        if run.plan.vertical.alignment == Alignment::Given {
            let rows = run.rows.len() as u64;
            for &party in &others {
                context.send(party, &run.hello(party, Meeting::Given { rows }))?;
            }
            return Self::wait(Stage::ExpectColumns(Expecting::all(run, others)));
        }
        let ids = meeting::checked(&ids.unwrap_or_default())?;
        let mut asked = BTreeMap::new();
        for party in others {
            let key = meeting::key(&format!("the key of the meeting with {}", party.0), context)?;
            let pair = meeting::run(context.agreement(), party, &run.plan.vertical);
            let (expected, offer) = psi::offer(&key, pair, &ids).map_err(|e| meeting::unmatched(&e))?;
            meeting::same(&format!("the offer to {}", party.0), &offer, context)?;
            asked.insert(party, expected);
            context.send(party, &run.hello(party, Meeting::Offer(offer)))?;
        }
        let came = BTreeMap::new();
        Self::wait(Stage::ExpectAnswers(Box::new(Expecting { run, asked, came })))
    }

    pub(super) fn handle(
        self,
        from: PartyId,
        message: Message,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        match (self.0, message) {
            (Stage::ExpectAnswers(mut expecting), Message::Answer(answer)) => {
                let asked = expecting.asked.remove(&from);
                let asked = asked.ok_or_else(|| context.complain(from, "it has answered already"))?;
                let pair = asked.receive(&answer).map_err(|e| context.complain(from, e))?;
                expecting.came.insert(from, pair);
                match expecting.asked.is_empty() {
                    true => expecting.settle(context),
                    false => Self::wait(Stage::ExpectAnswers(expecting)),
                }
            }
            (Stage::ExpectColumns(mut expecting), message) => {
                let received = expecting.run.received(from, message, context)?;
                match expecting.take(from, received) {
                    None => Err(context.complain(from, "it has sent its columns already")),
                    Some(true) => expecting.gathered(context),
                    Some(false) => Self::wait(Stage::ExpectColumns(expecting)),
                }
            }
            (Stage::ExpectThresholds(mut expecting, ranked), Message::Thresholds(pairs)) => {
                if !ranked.is_answered(from, &pairs) {
                    return Err(context.complain(from, "thresholds that are no answer to what was asked"));
                }
                match expecting.take(from, pairs) {
                    None => Err(context.complain(from, "it has sent its thresholds already")),
                    Some(true) => {
                        let Expecting { run, came, .. } = *expecting;
                        let own = (&run.own.schema, run.label());
                        let (joined, boosted) = ranked.finish(came, own, context)?;
                        run.trained(joined, boosted)
                    }
                    Some(false) => Self::wait(Stage::ExpectThresholds(expecting, ranked)),
                }
            }
            (_, message) => Err(context.complain(from, format!("{} out of turn", message.name()))),
        }
    }

    pub(super) fn resume(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Party>, Error> {
        match self.0 {
            Stage::Training(fitting) => fitting.piece(context),
            _ => Err(Error::internal("only training is work that goes on in pieces")),
        }
    }
}

impl<C> Expecting<(), C> {
    /// Something is expected of each of these parties.
    fn all(run: Run, parties: impl IntoIterator<Item = PartyId>) -> Box<Self> {
        let asked = parties.into_iter().map(|party| (party, ())).collect();
        let came = BTreeMap::new();
        Box::new(Self { run, asked, came })
    }

    /// Takes what a party sent, and says whether it was the last one; nothing if it was not expected.
    fn take(&mut self, from: PartyId, came: C) -> Option<bool> {
        self.asked.remove(&from)?;
        self.came.insert(from, came);
        Some(self.asked.is_empty())
    }
}

impl Expecting<psi::ExpectAnswer, psi::Pair> {
    fn settle(self: Box<Self>, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Party>, Error> {
        let Self { mut run, came, .. } = *self;
        let (parties, pairs): (Vec<PartyId>, Vec<psi::Pair>) = came.into_iter().unzip();
        let (rows, told) = psi::settle(pairs)
            .map_err(|e| Error::internal(format!("all parties met by the same list of ids ({e})")))?;
        if rows.is_empty() {
            return Err(Error::data(
                "the parties have no id in common, so there is nothing to learn from: check that all write ids alike, and that each \
                 job names the right column",
            ));
        }
        for (party, common) in parties.iter().zip(told) {
            context.send(*party, &Message::Common(common))?;
        }
        if run.restores {
            context.checkpoint(&Settled {
                ids: run.ids,
                rows: rows.clone(),
                columns: Vec::new(),
                boosted: None,
            });
        }
        run.settle(rows);
        LabelHolder::wait(Stage::ExpectColumns(Expecting::all(run, parties)))
    }
}

impl Run {
    /// These rows are common.
    fn settle(&mut self, rows: Vec<usize>) {
        self.own = self.own.take(&rows);
        self.rows = rows;
    }

    fn hello(&self, to: PartyId, meeting: Meeting) -> Message {
        let wanted = match &self.goal {
            Goal::Predict { branches: true, .. } => {
                Wanted::Branches(self.questions.get(&to).cloned().unwrap_or_default())
            }
            Goal::Train if self.plan.vertical.protocol == Protocol::AsPublished => Wanted::Ordinals,
            _ => Wanted::Columns,
        };
        Message::Hello {
            settings: self.plan.vertical.shared(),
            wanted,
            meeting,
        }
    }

    /// The column that is predicted.
    fn label(&self) -> Option<Column> {
        let schema = match &self.goal {
            Goal::Train => &self.own.schema,
            Goal::Predict { model, .. } => model.schema(),
        };
        schema.label().map(|(column, _)| column.clone())
    }

    fn trained(self, joined: Joined, boosted: Boosted) -> Result<TurnOutcome<Party>, Error> {
        let settings = Settings::new(self.plan.vertical.settings());
        let model = Model::new(joined.schema, boosted.into_ensemble(), self.certificate, settings)?;
        Ok(TurnOutcome::Finished(Outcome::Trained {
            rows: self.rows.len(),
            model: Box::new(model),
        }))
    }
}

impl Expecting<(), Received> {
    /// Everything is there: one table of it.
    fn gathered(self: Box<Self>, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Party>, Error> {
        let Self { mut run, came, .. } = *self;
        let mut joining = Joining::new(&run.own, run.label());
        let (mut ranks, mut columns) = (Vec::new(), Vec::new());
        for (party, received) in came {
            if run.restores && matches!(run.goal, Goal::Train) {
                columns.push((party, received.to_bytes()));
            }
            run.certificate.parties.push(PartyCertificate {
                party: context.name(party).to_owned(),
                certificate: received.certificate().for_partners(),
            });
            let added = match received {
                Received::Columns(release) => joining.add(*release),
                Received::Ordinals(ordinals) => {
                    let added = joining.add_ranks(&ordinals);
                    ranks.push((party, ordinals.release));
                    added
                }
                Received::Answers { answers, .. } => {
                    let questions = run.questions.get(&party).map_or(&[][..], Vec::as_slice);
                    joining.add_answers(questions, answers)
                }
            };
            added.map_err(|e| context.complain(party, e))?;
        }
        let joined = joining.join()?;
        if matches!(run.goal, Goal::Predict { .. }) {
            return run.predicted(&joined);
        }
        let gradient = run.plan.vertical.trees.gradient(&joined.schema)?;
        gradient.check(&joined.schema)?;
        let fitting = Fitting {
            run,
            joined,
            gradient,
            boosted: None,
            ranks,
            columns,
        };
        Ok(TurnOutcome::Working(LabelHolder::next(Stage::Training(
            Box::new(fitting),
        ))))
    }
}
