//! Every key of every job, in words: from the declarations that read parameters, and beside them the keys that jobs read themselves. A test
//! compares both with what the reader asks for.

use std::fmt::Write;

use privet::parameters::{AlgorithmReference, KeyReference, Parameters, Takes};
use privet::setting::{central, horizontal, local, plain, secure, vertical};

/// One setting of a job.
struct SettingReference {
    name: &'static str,
    about: &'static str,
    sections: Vec<SectionReference>,
}

/// One section of a job; the first is what stands above all sections.
struct SectionReference {
    heading: &'static str,
    keys: Vec<KeyReference>,
    algorithms: Vec<AlgorithmReference>,
}

impl SectionReference {
    fn new(heading: &'static str, keys: impl IntoIterator<Item = KeyReference>) -> Self {
        Self {
            heading,
            keys: keys
                .into_iter()
                .filter(|key| key.takes != Takes::Section)
                .collect(),
            algorithms: Vec::new(),
        }
    }

    /// `[algorithm]`, which names one of these.
    fn algorithm(algorithms: Vec<AlgorithmReference>) -> Self {
        Self {
            algorithms,
            ..Self::new("[algorithm]", [])
        }
    }
}

/// A key that the reader of jobs knows by itself.
fn key(name: &'static str, takes: &'static str, about: &str) -> KeyReference {
    KeyReference {
        name,
        about: about.to_owned(),
        takes: Takes::Words(takes),
        range: None,
        default: None,
    }
}

const FILE: &str = "a file, beside the job";
const NEEDED: &str = "a name";

fn schema() -> KeyReference {
    key(
        "schema",
        FILE,
        "What is public about the table: columns, bounds, who is protected.",
    )
}

fn data() -> KeyReference {
    key(
        "data",
        FILE,
        "The table: CSV, also gzipped, or Parquet. Where there is one table, `\"-\"` is standard input.",
    )
}

fn output() -> KeyReference {
    key("output", FILE, "Where the model goes.")
}

fn epsilon() -> KeyReference {
    key(
        "epsilon",
        "a number above 0",
        "How much may be told about one person, ε. There is no default.",
    )
}

fn spending() -> [KeyReference; 3] {
    [
        epsilon(),
        key(
            "delta",
            "a number such as 1e-6; if not given, the guarantee is pure",
            "The chance with which the promise may fail, far below one over the number of people.",
        ),
        key(
            "change",
            "`\"add-remove\"`, `\"replace\"`; if not given, as the schema says",
            "What an observer must not find out: whether a person is in the table, or what a person's row says.",
        ),
    ]
}

fn rows_about() -> KeyReference {
    key(
        "rows_about",
        "a whole number",
        "About how many rows there are, by public knowledge. They are never counted; it decides about sizes, not about noise.",
    )
}

fn settings() -> Vec<SettingReference> {
    let one_table = || SectionReference::new("", [schema(), data(), output()]);
    vec![
        SettingReference {
            name: "plain",
            about: "One table, no privacy: for public tables, and to compare with.",
            sections: vec![one_table(), SectionReference::algorithm(plain::reference())],
        },
        SettingReference {
            name: "central",
            about: "One table. A curator sees the rows, everybody else the model.",
            sections: vec![
                one_table(),
                SectionReference::algorithm(central::reference()),
                SectionReference::new("[privacy]", spending().into_iter().chain([rows_about()])),
            ],
        },
        of_horizontal(),
        of_secure(),
        of_vertical(),
        of_prediction(),
        of_local(),
    ]
}

/// `[network]`, for runs whose parties are on machines of their own.
fn network() -> SectionReference {
    let keys = [
        ("listens", NEEDED, "The party that listens; all others dial it."),
        (
            "address",
            "a name or number of a machine, with a port",
            "Where the others dial it.",
        ),
        (
            "patience",
            "a whole number from 1 to 604800; if not given, 600",
            "Seconds to wait for a party that is not connected.",
        ),
        (
            "deadline",
            "a whole number from 1 to 604800; if not given, 86400",
            "Seconds after which a run ends, whatever state it is in.",
        ),
    ];
    SectionReference::new(
        "[network]",
        keys.map(|(name, takes, about)| key(name, takes, about)),
    )
}

fn of_local() -> SettingReference {
    let whole = |name, takes, about| key(name, takes, about);
    SettingReference {
        name: "local",
        about: "Many owners send one locally private message each; a data user whom nobody trusts learns from them.",
        sections: vec![
            SectionReference::new(
                "",
                [
                    schema(),
                    key(
                        "data",
                        "a file, beside the job; if not given, there are no own rows",
                        "Rows of the data user itself, which nothing protects.",
                    ),
                    key(
                        "campaigns",
                        "a folder, beside the job",
                        "Where campaigns and what was collected for them are.",
                    ),
                    output(),
                ],
            ),
            SectionReference::algorithm(local::reference()),
            SectionReference::new(
                "[privacy]",
                [key(
                    "epsilon",
                    "a number, or a list of numbers",
                    "The ε of an owner's one message; if there are several, each round has a campaign for each, and an owner answers one campaign of all.",
                )],
            ),
            SectionReference::new(
                "[owners]",
                [
                    whole(
                        "about",
                        "a whole number",
                        "About how many owners there are, by public knowledge.",
                    ),
                    whole(
                        "rows_each",
                        "a whole number, or a list of two; if not given, 1",
                        "How many rows an owner has, about; of two numbers, at least and at most.",
                    ),
                    whole(
                        "own_rows",
                        "a whole number; if not given, 100",
                        "How many own rows a simulation gives the data user.",
                    ),
                    whole(
                        "skew",
                        "a number from 0 to 1; if not given, 0",
                        "The share of rows that a simulation deals by their class, so that owners are not alike: at 1 each owner knows one class.",
                    ),
                ],
            ),
        ],
    }
}

fn of_horizontal() -> SettingReference {
    let own = horizontal::Horizontal::default();
    let start = key(
        "start",
        "a file, beside the job; if not given, the model starts from nothing",
        "A model to start from: how owners join a run that has ended.",
    );
    SettingReference {
        name: "horizontal",
        about: "Owners with different rows of the same columns train one model; nobody shows its rows.",
        sections: vec![
            SectionReference::new("", [schema(), output(), start].into_iter().chain(own.reference())),
            SectionReference::algorithm(vec![AlgorithmReference::of(&horizontal::Trees::default())]),
            SectionReference::new("[privacy]", spending()),
            SectionReference::new("[evaluation]", horizontal::HeldOut::default().reference()),
            SectionReference::new(
                "[[owner]]",
                [
                    key("name", NEEDED, "What the owner is called."),
                    data(),
                    rows_about(),
                    key(
                        "schema",
                        "a file, beside the job; if not given, the job's",
                        "The owner's own schema, if its data set has another name or other ids than the job's.",
                    ),
                ],
            ),
            network(),
        ],
    }
}

fn of_secure() -> SettingReference {
    let party = |heading| {
        SectionReference::new(
            heading,
            [key("name", NEEDED, "What the party is called."), data()],
        )
    };
    SettingReference {
        name: "secure",
        about: "Two parties or more with different rows of the same columns compute jointly, without noise; what each is shown is listed.",
        sections: vec![
            SectionReference::new("", [schema(), output()]),
            SectionReference::algorithm(vec![AlgorithmReference::of(&secure::Secure::default())]),
            party("[initiator]"),
            party("[[responder]]"),
            network(),
        ],
    }
}

/// The sections of the parties, and how columns are changed.
fn columns_apart(privacy: Vec<KeyReference>) -> Vec<SectionReference> {
    let id = || {
        key(
            "id",
            "a column of type \"id\"",
            "The column that rows are matched by. Not with `alignment = \"given\"`.",
        )
    };
    let kept = || {
        key(
            "kept",
            "a file, beside the job; if not given, beside the table",
            "Where an earlier version of privet kept what was released.",
        )
    };
    let name = key(
        "name",
        "a name; if not given, label holder",
        "What the party is called.",
    );
    let extra = [
        (
            "width",
            "a whole number",
            "Bins per part, for the mechanisms that take it.",
        ),
        (
            "across",
            "a number above 0; if not given, the part of each value is shown",
            "ε between two neighbouring parts.",
        ),
        (
            "alpha",
            "a number from 0.001 to 1000",
            "Factor of ε between parts.",
        ),
        (
            "clipped",
            "true or false; if not given, true",
            "Whether results stay inside the domain.",
        ),
        (
            "columns",
            "a whole number",
            "How many columns are released, for `budget = \"sample\"`.",
        ),
    ];
    let extra = extra.map(|(name, takes, about)| key(name, takes, about));
    vec![
        SectionReference::new("[privacy]", privacy.into_iter().chain(extra)),
        SectionReference::new("[label_holder]", [name, schema(), data(), id(), kept()]),
        SectionReference::new("[feature_holder.NAME]", [schema(), data(), id(), kept()]),
    ]
}

fn of_vertical() -> SettingReference {
    let own = vertical::Vertical::default();
    let (label, top): (Vec<_>, Vec<_>) = own
        .reference()
        .into_iter()
        .partition(|key| key.name == "label_epsilon");
    let privacy = own.desensitisation().reference().into_iter().chain(label);
    let mut sections = vec![
        SectionReference::new("", [output()].into_iter().chain(top)),
        SectionReference::algorithm(vec![AlgorithmReference::of(own.trees())]),
    ];
    sections.extend(columns_apart(privacy.collect()));
    sections.push(network());
    SettingReference {
        name: "vertical",
        about: "Parties with different columns of the same people. Columns are randomised before they are sent.",
        sections,
    }
}

fn of_prediction() -> SettingReference {
    let own = vertical::Vertical::default();
    let shared = own
        .reference()
        .into_iter()
        .filter(|key| ["alignment", "most_ids"].contains(&key.name));
    let top = [
        key("output", FILE, "Where the predictions go."),
        key("model", FILE, "The model that the label holder has."),
        key(
            "predict",
            "`\"columns\"`, `\"branches\"`; if not given, columns",
            "Whether feature holders send changed columns, or only answer the model's questions.",
        ),
    ];
    let mut sections = vec![SectionReference::new("", top.into_iter().chain(shared))];
    sections.extend(columns_apart(own.desensitisation().reference()));
    SettingReference {
        name: "vertical",
        about: "To predict new people whose columns lie apart, for `privet predict JOB`.",
        sections,
    }
}

const HEAD: &str = "\
# Every key of every job

A job is one TOML file: `setting`, the files, `[algorithm]` and `[privacy]`. Files are relative to the job. A key that is not listed here is an
error with its line. What is in italics is what to write, and what counts if nothing is written. This page is what `privet help jobs` prints.
";

/// The reference of all settings, or of one, as text that is also Markdown; nothing if there is no such setting.
pub fn text(setting: Option<&str>) -> Option<String> {
    let mut out = String::from(HEAD);
    let all = settings();
    let chosen: Vec<&SettingReference> = all
        .iter()
        .filter(|own| setting.is_none_or(|name| own.name == name))
        .collect();
    if chosen.is_empty() {
        return None;
    }
    // Writing to a string cannot fail.
    for own in chosen {
        let _ = writeln!(out, "\n## setting = \"{}\"\n\n{}", own.name, own.about);
        for section in &own.sections {
            if !section.heading.is_empty() {
                let _ = writeln!(out, "\n### {}", section.heading);
            }
            if !section.keys.is_empty() {
                out.push('\n');
            }
            for key in &section.keys {
                let _ = writeln!(out, "- {}", key.line());
            }
            for algorithm in &section.algorithms {
                let _ = writeln!(out, "\n`name = \"{}\"`: {}\n", algorithm.name, algorithm.about);
                for key in algorithm.keys.iter().filter(|key| key.takes != Takes::Section) {
                    let _ = writeln!(out, "- {}", key.line());
                }
            }
        }
    }
    // An algorithm without parameters leaves two empty lines.
    while out.contains("\n\n\n") {
        out = out.replace("\n\n\n", "\n\n");
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    use privet::data::{Document, Schema};

    use super::super::{JobContext, JobFiles, network, parts};
    use super::*;

    const ROWS: &str = "schema = \"s.toml\"\ndata = \"s.csv\"\noutput = \"m\"\n[algorithm]\nname = \"trees\"\n[privacy]\nepsilon = 1\ndelta = 1e-6\n\
                        rows_about = 1000\n";
    const OWNERS: &str = "schema = \"s.toml\"\noutput = \"m\"\n[algorithm]\nname = \"trees\"\n[privacy]\nepsilon = 1\ndelta = 1e-6\n[evaluation]\n\
                          epsilon = 1\n[[owner]]\nname = \"n\"\ndata = \"n.csv\"\nrows_about = 1000\n";
    const TWO: &str = "schema = \"s.toml\"\noutput = \"m\"\n[algorithm]\nname = \"maboost\"\n[initiator]\nname = \"n\"\ndata = \"n.csv\"\n[responder]\n\
                       name = \"t\"\ndata = \"t.csv\"\n";
    const APART: &str = "output = \"m\"\nmost_ids = 9\n[algorithm]\nname = \"trees\"\n[privacy]\nepsilon = 1\n[label_holder]\nschema = \"s.toml\"\n\
                         data = \"s.csv\"\nid = \"who\"\n[feature_holder.shop]\nschema = \"t.toml\"\ndata = \"t.csv\"\nid = \"who\"\n";

    const MANY: &str = "schema = \"s.toml\"\noutput = \"m\"\ncampaigns = \"c\"\n[algorithm]\nname = \"collect-once\"\n[privacy]\nepsilon = 1\n[owners]\n\
                        about = 1000\n";

    /// What the reader asks for, by section.
    fn asked(setting: &str, text: &str) -> BTreeMap<String, BTreeSet<String>> {
        let text = format!("setting = \"{setting}\"\n{text}");
        let document = Document::parse("job", &text).expect("a job");
        let schema = |path: &Path| {
            let (name, label) = match path.ends_with("s.toml") {
                true => ("s", "y = { type = \"label\", values = [\"0\", \"1\"] }"),
                false => ("t", ""),
            };
            let text = format!(
                "dataset = \"{name}\"\n[columns]\nwho = {{ type = \"id\" }}\n{name}x = {{ type = \"number\", min = 0, max = 1 }}\n{label}\n"
            );
            Schema::from_toml("s", &text)
        };
        let model = |_: &Path| Err(privet::Error::data("there is no model"));
        let around = JobContext {
            folder: Path::new(""),
            files: JobFiles {
                schema: &schema,
                model: &model,
            },
        };
        let _ = parts(&document.root(), &around);
        let _ = network::read(&document.root());
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (section, keys) in document.known() {
            all.entry(section).or_default().extend(keys);
        }
        all
    }

    /// A key that is read and not listed, or listed and not read, is seen.
    #[test]
    fn the_reference_lists_what_the_reader_asks_for() {
        let predicting = APART.replace("[algorithm]\nname = \"trees\"\n", "");
        let predicting = format!("model = \"m.privet\"\npredict = \"columns\"\n{predicting}");
        let plain = ROWS.split("[privacy]").next().unwrap_or_default();
        let jobs = [plain, ROWS, OWNERS, TWO, APART, &predicting, MANY].map(str::to_owned);
        let networked =
            |own: &SettingReference| own.sections.iter().any(|section| section.heading == "[network]");
        for (own, job) in settings().iter().zip(jobs) {
            let job = match networked(own) {
                true => format!("{job}[network]\nlistens = \"n\"\naddress = \"n:1\"\n"),
                false => job,
            };
            let mut asked = asked(own.name, &job);
            let mut top: BTreeSet<String> = asked.remove("").unwrap_or_default();
            top.remove("setting");
            for section in &own.sections {
                let mut listed: BTreeSet<String> =
                    section.keys.iter().map(|key| key.name.to_owned()).collect();
                for algorithm in &section.algorithms {
                    listed.insert("name".into());
                    let keys = algorithm.keys.iter().filter(|key| key.takes != Takes::Section);
                    listed.extend(keys.map(|key| key.name.to_owned()));
                }
                let name = section.heading.trim_matches(['[', ']']).replace("NAME", "shop");
                if name.is_empty() {
                    // Sections are asked for by name, too.
                    let headings = own
                        .sections
                        .iter()
                        .map(|section| section.heading.trim_matches(['[', ']']));
                    listed.extend(
                        headings
                            .filter_map(|name| name.split('.').next())
                            .filter(|name| !name.is_empty())
                            .map(str::to_owned),
                    );
                    // Some jobs ask for these only to say that they do not belong there.
                    for name in ["algorithm", "network", "privacy"] {
                        top.remove(name);
                        listed.remove(name);
                    }
                    assert_eq!(top, listed, "{}", own.about);
                } else {
                    let mut found = asked.remove(&name).unwrap_or_default();
                    // A job for predicting asks for it only to say that it is for training.
                    if own.sections.iter().all(|section| section.algorithms.is_empty()) {
                        found.remove("label_epsilon");
                    }
                    assert_eq!(found, listed, "{}, {}", own.about, section.heading);
                }
            }
            for section in ["feature_holder", "network"] {
                asked.remove(section);
            }
            assert!(asked.is_empty(), "{}: {asked:?}", own.about);
        }
    }

    #[test]
    fn a_setting_can_be_asked_for_alone() {
        let all = text(None).expect("all settings");
        let one = text(Some("secure")).expect("a setting");
        assert!(all.contains("## setting = \"central\"") && !one.contains("## setting = \"central\""));
        assert!(
            one.contains("- `rounds`: Rounds at most; of more than two classes, for each class. *A whole number from 1 to 10000; if not given, 200.*"),
            "{one}"
        );
        assert_eq!(text(Some("open")), None);
    }
}
