//! Collections of local messages under kills: at every write of a small one, and at random moments of a longer one.
//!
//! What this shows: a process that dies at any moment leaves a collection that goes on and ends with the same sums, counts and positions; no message is
//! lost, none counted twice. What it does not: a power cut. That rests on tokens being synced before the file of sums takes its new name.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use privet::privacy::Randomness;
use privet::privacy::mechanism::local::{LocalMessage, Token};
use privet::setting::local::{Campaign, Collected, Refusal, Share};
use privet_node::collection::{Collection, CollectionLimits};
use privet_testkit::skipped::full;

const FOLDER: &str = "PRIVET_COLLECT_FOLDER";
const STEP: &str = "PRIVET_COLLECT_STEP";

const CAMPAIGN: &str =
    "version = 1\nname = \"steps\"\nepsilon = 1.0\nmessage = \"vector\"\ndimension = 9\nradius = 1.0\n";

fn campaign() -> Campaign {
    Campaign::read("campaign.toml", CAMPAIGN).unwrap()
}

const LIMITS: CollectionLimits = CollectionLimits {
    most: 20_000_000,
    share: Share::ALL,
    threads: 1,
};

/// Messages, of which every seventh comes twice and every eleventh is damaged.
pub(crate) fn messages(campaign: &Campaign, count: usize) -> Vec<u8> {
    let mut random = Randomness::seeded(11);
    let (mut token, mut all) = ([0; 16], Vec::new());
    for i in 0..count {
        if i % 7 != 6 {
            random.bytes(&mut token);
        }
        let message = LocalMessage {
            token: Token::from_bytes(token).unwrap(),
            body: vec![token[0] ^ i as u8],
        };
        let mut frame = campaign.submission(&message);
        if i % 11 == 10 {
            frame[12] ^= 1;
        }
        all.extend(frame);
    }
    all
}

/// The child: collects, and dies at the step that it is told. Without the parent's variable it does nothing.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let last = std::env::var(STEP)
        .ok()
        .map(|step| step.parse::<usize>().unwrap());
    let campaign = campaign();
    let mut steps = 0;
    let watch = |_| {
        if Some(steps) == last {
            std::process::abort();
        }
        steps += 1;
    };
    let mut collection = Collection::open(&campaign, &folder.join("sums"), LIMITS, watch).unwrap();
    for name in ["one", "two"] {
        collection
            .read_file(&folder.join(name), 50, |_, _| Ok(()))
            .unwrap();
    }
}

fn run_child(folder: &Path, step: Option<usize>) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "collect_kill::child", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(step) = step {
        command.env(STEP, step.to_string());
    }
    command.status().unwrap().success()
}

fn sums(folder: &Path) -> Collected {
    Collected::from_file("sums", &fs::read(folder.join("sums")).unwrap()).unwrap()
}

fn folder_with(frames: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let half = campaign().submission_bytes() * 130;
    fs::write(folder.path().join("one"), &frames[..half]).unwrap();
    fs::write(folder.path().join("two"), &frames[half..]).unwrap();
    folder
}

/// Names of files are part of what is collected: compared without their folder.
fn same(one: &Collected, other: &Collected) {
    let places = |of: &Collected| {
        of.inputs()
            .iter()
            .map(|i| (i.position, i.head))
            .collect::<Vec<_>>()
    };
    assert_eq!(one.sums(), other.sums());
    assert_eq!(one.messages(), other.messages());
    assert_eq!(one.refused(), other.refused());
    assert_eq!(one.tokens_sum(), other.tokens_sum());
    assert_eq!(places(one), places(other));
}

#[test]
fn a_collection_that_dies_at_any_write_ends_the_same() {
    let frames = messages(&campaign(), 250);
    let whole = folder_with(&frames);
    assert!(run_child(whole.path(), None));
    let expected = sums(whole.path());
    assert!(expected.messages() > 150 && expected.refused().of(Refusal::Replay) > 10);
    let mut step = 0;
    loop {
        let folder = folder_with(&frames);
        let ended = run_child(folder.path(), Some(step));
        // Once more right after the first death, at the same place of the next batch; then to the end.
        if !ended {
            run_child(folder.path(), Some(step % 6));
            assert!(run_child(folder.path(), None), "step {step}");
        }
        same(&sums(folder.path()), &expected);
        if ended {
            break;
        }
        step += 1;
    }
    // 250 messages in batches of 50 and what a file's end leaves: 6 batches of 6 steps.
    assert_eq!(step, 36);
}

/// What the tests above rest on is looked at: a list that lost tokens, or has others, is refused, and so is a second process.
#[test]
fn a_collection_without_its_tokens_is_refused() {
    let folder = folder_with(&messages(&campaign(), 250));
    assert!(run_child(folder.path(), None));
    let tokens = folder.path().join("sums.tokens");
    let whole = fs::read(&tokens).unwrap();
    let open = || {
        let campaign = campaign();
        let opened = Collection::open(&campaign, &folder.path().join("sums"), LIMITS, |_| {});
        opened.map(|collection| collection.collected().messages())
    };
    let mut other = whole.clone();
    other[40] ^= 1;
    let twice = [&whole[..32], &whole[16..whole.len() - 16]].concat();
    for bad in [
        &whole[..whole.len() - 16],
        &whole[..8],
        &other,
        &twice,
        b"a foreign file of somebody",
    ] {
        fs::write(&tokens, bad).unwrap();
        assert!(open().is_err());
        assert_eq!(
            fs::read(&tokens).unwrap(),
            bad,
            "nothing is cut off that is not ours"
        );
    }
    // Tokens of a batch that was not finished are cut off.
    fs::write(&tokens, [&whole[..], &[7; 24]].concat()).unwrap();
    let counted = open().unwrap();
    assert_eq!(fs::read(&tokens).unwrap(), whole);
    assert_eq!(whole.len() as u64, 16 * (counted + 1));
    let campaign = campaign();
    let first = Collection::open(&campaign, &folder.path().join("sums"), LIMITS, |_| {}).unwrap();
    assert!(open().is_err(), "another process has it open");
    drop(first);
    assert!(open().is_ok());
}

/// How long a collection lasts at least, if nobody kills it: with `PRIVET_FULL=1`.
const LONG: Duration = Duration::from_secs(20);

/// The real command, killed at random moments of a collection that has not ended, and then left alone. With `PRIVET_FULL=1` batches are made smaller until
/// the collection lasts as long as [`LONG`], and there are 50 kills.
#[test]
fn a_collection_killed_at_random_ends_the_same() {
    let (count, wanted, least) = if full() {
        (1_000_000, 50, LONG)
    } else {
        (60_000, 8, Duration::ZERO)
    };
    let campaign = campaign();
    let frames = messages(&campaign, count);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("campaign.toml"), CAMPAIGN).unwrap();
    fs::write(folder.path().join("messages"), &frames).unwrap();
    let command = |out: &str, batch: usize| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_privet"));
        command
            .args(["collect", "campaign.toml", "messages", "--out", out])
            .args(["--batch", &batch.to_string(), "--most", "4000000"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    let read = |name: &str| match fs::read(folder.path().join(name)) {
        Ok(bytes) => Some(Collected::from_file(name, &bytes).unwrap()),
        Err(_) => None,
    };
    // Each batch is synced twice: ever smaller ones last ever longer.
    let mut batch = if full() { 1000 } else { 1000.min(count / 60) };
    let alone = loop {
        let name = format!("whole-{batch}");
        let started = Instant::now();
        assert!(command(&name, batch).status().unwrap().success());
        let lasted = started.elapsed();
        fs::rename(folder.path().join(&name), folder.path().join("whole")).unwrap();
        if lasted >= least {
            break lasted;
        }
        assert!(batch > 1, "{count} batches last {lasted:?}");
        batch /= 2;
    };
    let expected = read("whole").unwrap();
    assert!(expected.messages() > count as u64 / 2);
    let is_whole = |collected: &Collected| {
        collected
            .inputs()
            .iter()
            .any(|i| i.position == frames.len() as u64)
    };
    assert!(is_whole(&expected));
    let (mut kills, mut ended, mut first) = (0u32, 0, 0);
    let started = Instant::now();
    while kills < wanted {
        let name = format!("killed-{ended}");
        let mut child = command(&name, batch).spawn().unwrap();
        let mut coin = [0; 2];
        getrandom::fill(&mut coin).unwrap();
        // Each lives for a random time: all together about three quarters of what the whole takes. What starting takes, and a batch that was not finished, make no progress.
        let share = f64::from(u16::from_le_bytes(coin)) / 65_536.0;
        // Of four, three live on after a batch of their own; the fourth may die while it starts.
        let written = || {
            fs::metadata(folder.path().join(&name))
                .and_then(|file| file.modified())
                .ok()
        };
        let before = written();
        while kills % 4 != 0 && written() == before && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        sleep(alone.mul_f64(1.5 * share / f64::from(wanted)));
        child.kill().unwrap();
        child.wait().unwrap();
        let reached = read(&name);
        if reached.as_ref().is_some_and(is_whole) {
            // It had ended: that was no kill. What it found counts, and another one begins.
            same(&reached.unwrap(), &expected);
            ended += 1;
            continue;
        }
        kills += 1;
        first += usize::from(reached.is_none());
    }
    let name = format!("killed-{ended}");
    assert!(command(&name, batch).status().unwrap().success());
    same(&read(&name).unwrap(), &expected);
    assert!(
        first <= 1,
        "the second finishes a batch, and all others go on from there"
    );
    let (alone, all) = (alone.as_secs_f64(), started.elapsed().as_secs_f64());
    println!(
        "{count} messages in batches of {batch}: {alone:.1} s alone; {kills} kills, {first} of them before the first batch, in {all:.1} s; {} ended; the same sums",
        ended + 1
    );
}
