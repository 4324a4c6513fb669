//! Messages of made-up owners, for simulations.

use super::{LocalMechanism, LocalMessage, Paid, Token};
use crate::Error;
use crate::privacy::{Private, Randomness};

/// A message about an input that is no secret, from a stream that anybody can repeat. It protects nobody, and nobody pays.
///
/// # Errors
/// [`Error::Misuse`] if the stream is not seeded: messages of real owners are drawn by [`Ledger::contribute`](crate::privacy::Ledger::contribute).
pub fn rehearse<M: LocalMechanism>(
    mechanism: &M,
    input: M::Input,
    random: &mut Randomness,
) -> Result<LocalMessage, Error> {
    if !random.is_seeded() {
        return Err(Error::misuse(
            "a rehearsal needs a seeded stream; messages of owners are paid for and drawn by `Ledger::contribute`",
        ));
    }
    let token = Token::draw(random);
    let body = mechanism.draw(&token, Private::new(input), Paid::receipt(), random);
    Ok(LocalMessage { token, body })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Epsilon;
    use crate::privacy::mechanism::local::{KClosest, UNIT};

    #[test]
    fn rehearsals_repeat_themselves_and_need_a_seed() {
        let mechanism = KClosest::new(Epsilon::new(1.0).expect("an ε"), 3, 16).expect("a mechanism");
        let input = || vec![UNIT, 0, 0];
        let twice = [7, 7].map(|seed| rehearse(&mechanism, input(), &mut Randomness::seeded(seed)));
        let [one, other] = twice.map(|drawn| drawn.expect("a message"));
        assert_eq!(one, other);
        let real = rehearse(
            &mechanism,
            input(),
            &mut Randomness::from_os().expect("randomness"),
        );
        assert!(matches!(real, Err(Error::Misuse(_))));
    }
}
