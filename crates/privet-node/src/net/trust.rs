//! Which keys of other parties are trusted, under which names, and until when: one file that `privet keys` writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use privet::Error;
use privet::privacy::signature::{Fingerprint, PublicKey};
use privet::privacy::texts::check_name;
use serde::{Deserialize, Serialize};

use super::KeyRefusal;
use crate::ledger::write_whole;

/// The most bytes of a trust file.
const MOST: u64 = 1 << 22;

/// A party whose key is trusted, or was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedParty {
    /// What jobs call it.
    pub name: String,
    /// The fingerprint of its key.
    pub fingerprint: String,
    /// The last day on which it is trusted, as 2027-12-31; none if there is no end.
    #[serde(default)]
    pub until: Option<String>,
    /// Whether it is trusted no more.
    #[serde(default)]
    pub revoked: bool,
}

/// Why a key is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Distrust {
    Stranger,
    Expired,
    Revoked,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    parties: Vec<TrustedParty>,
}

/// The trusted keys of a folder.
#[derive(Debug, Clone)]
pub struct Trust {
    file: PathBuf,
    stored: Stored,
}

impl Trust {
    /// Reads the file of a folder; without one nobody is trusted.
    ///
    /// # Errors
    /// [`Error::Data`] if it cannot be read or says something else.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let file = folder.join("trust.json");
        let bad = |why: String| Error::data_in(file.display(), why);
        let stored = match fs::metadata(&file) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Stored::default(),
            Err(e) => return Err(bad(format!("it cannot be read: {e}"))),
            Ok(found) if found.len() > MOST => {
                return Err(bad("it is too long for a file of trusted keys".into()));
            }
            Ok(found) => {
                unwritten_by_others(&found).map_err(bad)?;
                let text = fs::read_to_string(&file).map_err(|e| bad(format!("it cannot be read: {e}")))?;
                Self::parse(&file.display().to_string(), &text)?
            }
        };
        Ok(Self { file, stored })
    }

    fn parse(name: &str, text: &str) -> Result<Stored, Error> {
        let stored: Stored = serde_json::from_str(text)
            .map_err(|e| Error::data_at(name, Some(e.line() as u64), e.to_string()))?;
        for (place, party) in stored.parties.iter().enumerate() {
            let bad = |why: String| Error::data_in(name, format!("party {}: {why}", place + 1));
            check_name(&party.name, 100).map_err(bad)?;
            party.fingerprint.parse::<Fingerprint>()?;
            if let Some(until) = &party.until {
                last_second(until).map_err(bad)?;
            }
            if stored.parties[..place]
                .iter()
                .any(|other| other.name == party.name)
            {
                return Err(bad(format!("'{}' stands there twice", party.name)));
            }
        }
        Ok(stored)
    }

    /// The parties.
    pub fn parties(&self) -> &[TrustedParty] {
        &self.stored.parties
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Trusts a key under a name, in place of another one.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a name or a day that is none; [`Error::Data`] if the file cannot be written.
    pub fn insert(
        &mut self,
        name: &str,
        fingerprint: Fingerprint,
        until: Option<String>,
    ) -> Result<(), Error> {
        check_name(name, 100).map_err(|why| Error::parameter("name", format!("{name:?}: {why}")))?;
        if let Some(until) = &until {
            last_second(until).map_err(|why| Error::parameter("until", why))?;
        }
        self.stored.parties.retain(|party| party.name != name);
        self.stored.parties.push(TrustedParty {
            name: name.to_owned(),
            fingerprint: fingerprint.to_string(),
            until,
            revoked: false,
        });
        self.save()
    }

    /// Trusts a party no more. Whether it was known.
    ///
    /// # Errors
    /// [`Error::Data`] if the file cannot be written.
    pub fn revoke(&mut self, name: &str) -> Result<bool, Error> {
        let Some(party) = self.stored.parties.iter_mut().find(|party| party.name == name) else {
            return Ok(false);
        };
        party.revoked = true;
        self.save().map(|()| true)
    }

    fn save(&mut self) -> Result<(), Error> {
        self.stored.parties.sort_by(|a, b| a.name.cmp(&b.name));
        let unwritten =
            |e: std::io::Error| Error::data_in(self.file.display(), format!("it cannot be written: {e}"));
        let text = serde_json::to_string_pretty(&self.stored).map_err(|e| unwritten(e.into()))?;
        write_whole(&self.file, (text + "\n").as_bytes()).map_err(unwritten)
    }

    /// The fingerprint that a party of this name is trusted by today.
    ///
    /// # Errors
    /// [`Error::Parameter`] that says what to do if there is none, or it is revoked or expired.
    pub fn fingerprint(&self, name: &str) -> Result<Fingerprint, Error> {
        let missing = |why: &str| {
            Err(Error::parameter(
                "keys",
                format!(
                    "the key of '{name}' {why}: ask it for its fingerprint (`privet keys show`) and run `privet keys trust {name} FINGERPRINT`"
                ),
            ))
        };
        let Some(party) = self.stored.parties.iter().find(|party| party.name == name) else {
            return missing("is not known here");
        };
        match party.state(now()) {
            None => party.fingerprint.parse(),
            Some(Distrust::Expired) => missing("was trusted until a day that has passed"),
            Some(_) => missing("was revoked"),
        }
    }
}

impl Trust {
    /// Whether a party of this name is trusted by this key now.
    ///
    /// # Errors
    /// Why not.
    pub fn refusal(&self, name: &str, key: &PublicKey) -> Result<(), KeyRefusal> {
        let found = self
            .stored
            .parties
            .iter()
            .find(|party| party.name == name && party.has(key));
        match found.ok_or(KeyRefusal::Stranger)?.state(now()) {
            None => Ok(()),
            Some(Distrust::Expired) => Err(KeyRefusal::Expired),
            Some(_) => Err(KeyRefusal::Revoked),
        }
    }
}

impl TrustedParty {
    /// Why it is not trusted at this second, if so.
    fn state(&self, now: u64) -> Option<Distrust> {
        let until = self.until.as_deref().map(last_second);
        match until {
            _ if self.revoked => Some(Distrust::Revoked),
            Some(Ok(last)) if now > last => Some(Distrust::Expired),
            // A file with a day that is none was refused.
            Some(Err(_)) => Some(Distrust::Expired),
            _ => None,
        }
    }

    /// Whether this is its key.
    fn has(&self, key: &PublicKey) -> bool {
        self.fingerprint
            .parse()
            .is_ok_and(|own: Fingerprint| own == key.fingerprint())
    }
}

/// Whoever can write the file decides whom this party trusts.
#[cfg(unix)]
fn unwritten_by_others(file: &fs::Metadata) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    match file.permissions().mode() & 0o022 {
        0 => Ok(()),
        _ => Err("it can be written by others. Run chmod 600 on it".into()),
    }
}

#[cfg(not(unix))]
fn unwritten_by_others(_: &fs::Metadata) -> Result<(), String> {
    Ok(())
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    // A clock before 1970 trusts nobody whose trust ends.
    since.map_or(u64::MAX, |since| since.as_secs())
}

/// The last second of a day such as 2027-12-31, UTC.
fn last_second(day: &str) -> Result<u64, String> {
    let bad = || format!("{day:?} is no day: write it as 2027-12-31");
    let parts: Vec<&str> = day.split('-').collect();
    let [year, month, date] = parts[..] else {
        return Err(bad());
    };
    let number = |text: &str, digits: usize| {
        let plain = text.len() == digits && text.bytes().all(|c| c.is_ascii_digit());
        plain.then(|| text.parse::<u64>().ok()).flatten().ok_or_else(bad)
    };
    let (year, month, date) = (number(year, 4)?, number(month, 2)?, number(date, 2)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [
        31,
        if leap { 29 } else { 28 },
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let length = month.checked_sub(1).and_then(|month| lengths.get(month as usize));
    if year < 1970 || !length.is_some_and(|length| (1..=*length).contains(&date)) {
        return Err(bad());
    }
    let leaps = |year: u64| year / 4 - year / 100 + year / 400;
    let days = (year - 1970) * 365 + leaps(year - 1) - leaps(1969)
        + lengths[..month as usize - 1].iter().sum::<u64>()
        + date
        - 1;
    Ok(days * 86_400 + 86_399)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Identity;

    #[test]
    fn days_end_when_they_do() {
        assert_eq!(last_second("1970-01-01"), Ok(86_399));
        assert_eq!(last_second("2000-02-29"), Ok(951_868_799));
        assert_eq!(last_second("2026-12-31"), Ok(1_798_761_599));
        for bad in [
            "",
            "2026",
            "2026-2-3",
            "2025-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "1969-12-31",
            "+026-01-01",
        ] {
            assert!(last_second(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn trust_is_written_read_revoked_and_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let [north, south] = [1, 2].map(|byte| Identity::from_seed([byte; 32]).public());
        let mut trust = Trust::load(folder.path()).expect("nobody");
        trust
            .insert("north", north.fingerprint(), Some("1999-12-31".into()))
            .expect("a day");
        trust.insert("south", south.fingerprint(), None).expect("no end");
        let mut again = Trust::load(folder.path()).expect("both");
        assert!(again.fingerprint("north").is_err(), "expired");
        assert_eq!(again.fingerprint("south").ok(), Some(south.fingerprint()));
        assert!(again.fingerprint("east").is_err());
        assert!(again.revoke("south").expect("written"));
        assert!(!again.revoke("east").expect("nothing to write"));
        assert!(
            Trust::load(folder.path())
                .expect("both")
                .fingerprint("south")
                .is_err(),
            "revoked"
        );
        again
            .insert("north", north.fingerprint(), None)
            .expect("trusted again");
        assert!(again.fingerprint("north").is_ok());
    }

    #[test]
    fn a_bad_trust_file_is_refused_with_its_line() {
        let fingerprint = Identity::from_seed([1; 32]).public().fingerprint();
        let party = |name: &str, rest: &str| {
            format!("{{\"name\": \"{name}\", \"fingerprint\": \"{fingerprint}\"{rest}}}")
        };
        for parties in [
            party("a", ", \"until\": \"soon\""),
            party("a", ", \"unknown\": 1"),
            party("", ""),
            format!("{}, {}", party("a", ""), party("a", "")),
            "{\"name\": \"a\", \"fingerprint\": \"12\"}".into(),
        ] {
            assert!(
                Trust::parse("trust.json", &format!("{{\"parties\": [{parties}]}}")).is_err(),
                "{parties}"
            );
        }
        assert!(Trust::parse("trust.json", "").is_err());
    }
}
