//! `privet ledger key`

use serde_json::json;

use crate::ledger::Store;
use crate::verb::exit::Failure;
use crate::verb::request::LedgerFile;
use crate::verb::{Answer, words};

pub(in crate::verb) fn run(ledger: &LedgerFile) -> Result<Answer, Failure> {
    let known = Store::read_only(ledger.path()?)?.public_key()?;
    let public = match known {
        Some(public) => public,
        None => ledger.open()?.signing_key()?.public(),
    };
    let fingerprint = public.fingerprint();
    let text = format!(
        "{fingerprint}\n\n\
         This is the fingerprint of the key that models and certificates of this ledger are signed with. Give it to whoever gets a \
         model, by another way than the model itself; they compare it with `privet inspect MODEL --signed-by FINGERPRINT`.\n"
    );
    let json = json!({
        "ledger": ledger.path()?,
        "fingerprint": fingerprint.to_string(),
        "public_key": public.to_string(),
    });
    Ok(Answer::new(words::wrapped(&text), json))
}
