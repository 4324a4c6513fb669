//! People who do not exist, the same ones every time.

use std::fmt::Write;

pub(super) const VOLUNTEERS: usize = 4000;
pub(super) const PATIENTS: usize = 2000;

/// Patients of each of three more clinics.
pub(super) const CLINIC: usize = 700;

const JOB: &str = r#"setting = "central"
schema = "patients.toml"
data = "patients.csv"
output = "model.privet"

[algorithm]
name = "trees"

[privacy]
epsilon = 0.8
delta = 1e-6
rows_about = 2000      # public knowledge: it is never counted
"#;

const OPEN: &str = r#"setting = "plain"
schema = "register.toml"
data = "register.csv"
output = "open.privet"

[algorithm]
name = "trees"
rounds = 80
depth = 3
"#;

const CLINICS: &str = r#"setting = "horizontal"
schema = "clinics.toml"
output = "clinics.privet"
protocol = "aggregated"
absent = 0
colluding = 1

[algorithm]
name = "trees"

[privacy]
epsilon = 0.8
delta = 1e-6

[[owner]]
name = "north"
data = "north.csv"
rows_about = 700

[[owner]]
name = "east"
data = "east.csv"
rows_about = 700

[[owner]]
name = "south"
data = "south.csv"
rows_about = 700
"#;

/// The demo's files, by name.
pub(super) fn files() -> [(&'static str, String); 13] {
    const PUBLIC: &str = ", private = false";
    [
        ("volunteers.csv", table(VOLUNTEERS, 2024)),
        ("volunteers.toml", schema("volunteers", PUBLIC)),
        ("patients.csv", table(PATIENTS, 77)),
        ("patients.toml", schema("patients", "")),
        ("job.toml", JOB.into()),
        ("register.csv", table(PATIENTS, 1907)),
        ("register.toml", schema("register", PUBLIC)),
        ("open.toml", OPEN.into()),
        ("north.csv", table(CLINIC, 11)),
        ("east.csv", table(CLINIC, 12)),
        ("south.csv", table(CLINIC, 13)),
        ("clinics.toml", schema("clinics", "")),
        ("clinics-job.toml", CLINICS.into()),
    ]
}

fn schema(dataset: &str, private: &str) -> String {
    format!(
        r#"dataset = "{dataset}"

[columns]
age = {{ type = "integer", min = 18, max = 100, measure = "years"{private} }}
pressure = {{ type = "number", min = 80, max = 220, measure = "mm Hg"{private} }}
smoker = {{ type = "flag"{private} }}
region = {{ type = "category", values = ["north", "east", "south", "west"]{private} }}
stroke = {{ type = "label", values = ["no", "yes"]{private} }}
"#
    )
}

fn table(people: usize, mut state: u64) -> String {
    let mut below = |n: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut text = String::from("age,pressure,smoker,region,stroke\n");
    for _ in 0..people {
        let age = 18 + below(75);
        let pressure = 95 + below(60) + age / 2 + below(20);
        let smoker = below(4) == 0;
        let region = ["north", "east", "south", "west"][below(4) as usize];
        // In a thousand: the old, those with high pressure and smokers are at risk, and some have bad luck.
        let risk = 20
            + 10 * age.saturating_sub(50)
            + 8 * pressure.saturating_sub(150)
            + if smoker { 200 } else { 0 };
        let (smoker, stroke) = (
            if smoker { "yes" } else { "no" },
            if below(1000) < risk { "yes" } else { "no" },
        );
        // A cell is missing now and then.
        match below(50) {
            0 => drop(writeln!(text, "{age},,{smoker},{region},{stroke}")),
            _ => drop(writeln!(text, "{age},{pressure},{smoker},{region},{stroke}")),
        }
    }
    text
}
