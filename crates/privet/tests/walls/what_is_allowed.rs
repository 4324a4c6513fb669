//! compiles: computing on private values and releasing them for a price.
use privet::Error;
use privet::privacy::mechanism::Laplace;
use privet::privacy::{AddRemove, Anchor, Ledger, Norm, Private, Query, Released, Sensitivity};

fn release(ledger: &mut Ledger<AddRemove>, mechanism: &Laplace) -> Result<Released<Vec<i64>>, Error> {
    let mut ages = Private::new(vec![34, 51]);
    let bonus = Private::new(1);
    ages.update(bonus.as_ref(), |ages, bonus| ages.iter_mut().for_each(|age| *age += bonus));
    let count = ages.as_ref().zip(bonus, |ages, n| vec![ages.len() as i64 + n]);
    let claim = Sensitivity::claim(&AddRemove::row(), Norm::L1(1), Anchor::new("laplace#integer-vectors"))?;
    ledger.release("a count", mechanism, Query::new(1, claim, || count))
}

fn main() {
    let _ = release;
}
