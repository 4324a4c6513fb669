//! Parameters, each declared once: key, type, range, default and meaning.
//!
//! `parameters!` makes of such a list the type, its [`Builder`] with a setter for each, the check of ranges, the reading from a job
//! and what a model keeps. An algorithm is added to a setting by a line in the setting's list of `Named` algorithms.

use std::fmt::Display;
use std::ops::{ControlFlow, RangeInclusive};

use crate::Error;
use crate::data::Section;
use crate::learner::Progress;
use crate::privacy::Epsilon;

#[cfg(feature = "audit")]
thread_local! {
    /// How many plans this thread has made, of any setting.
    pub static PLANS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[cfg(feature = "audit")]
pub(crate) fn count_plan() {
    PLANS.set(PLANS.get() + 1);
}

/// The type of a parameter.
pub trait Value: Sized {
    /// The type that a caller gives.
    type Given;

    /// The parameter for a given value.
    fn new(given: Self::Given) -> Self;

    /// The given value, or the default.
    fn given(&self) -> Option<&Self::Given>;

    /// The value in a job; a finding if it cannot be read.
    fn read(section: &Section<'_>, key: &str) -> Option<Self::Given>;

    /// As a model stores it, if it does.
    fn shown(&self) -> Option<String>;

    /// What a job writes for it.
    fn takes() -> Takes {
        Takes::Section
    }

    /// The default in words; nothing if a rule or another parameter decides.
    fn default_text(&self, key: &'static str) -> Option<String> {
        self.named(key).into_iter().next().map(|(_, value)| value)
    }

    /// Names and values as a model keeps them: more than one if the value has parameters of its own.
    fn named(&self, key: &'static str) -> Vec<(String, String)> {
        let shown = self.shown().map(|value| (key.to_owned(), value));
        shown.into_iter().collect()
    }
}

/// Values that are given as they are: how one is read, how it is shown, and its settings if these are more than its key and what is shown.
macro_rules! plain_values {
    ($($type:ty: $read:expr, $shown:expr $(, $settings:expr)? $(=> $takes:expr)?;)*) => {$(
        impl $crate::parameters::Value for $type {
            type Given = Self;

            fn new(given: Self) -> Self {
                given
            }

            fn given(&self) -> Option<&Self> {
                Some(self)
            }

            fn read(section: &$crate::data::Section<'_>, key: &str) -> Option<Self> {
                $read(section, key)
            }

            fn shown(&self) -> Option<String> {
                $shown(self)
            }

            $(fn named(&self, key: &'static str) -> Vec<(String, String)> {
                $settings(self, key)
            })?

            $(fn takes() -> $crate::parameters::Takes {
                $takes
            })?
        }
    )*};
}

/// Values that have names: a type, and its list of names; or an enum whose variants are declared with their names in a job.
macro_rules! named_values {
    ($($type:ty: $names:expr;)*) => {
        $crate::parameters::plain_values! {$(
            $type: |section: &$crate::data::Section<'_>, key: &str| {
                section.choice(key, &$names).map(|found| found.value)
            }, |own: &Self| Some($crate::parameters::name_of(&$names, own))
                => $crate::parameters::Takes::Names($names.iter().map(|(name, _)| *name).collect());
        )*}
    };
    ($($(#[$doc:meta])* pub enum $type:ident { $($(#[$about:meta])* $variant:ident = $name:literal,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub enum $type {
                $($(#[$about])* $variant,)*
            }

            impl $type {
                /// All of them, with their names in a job.
                pub const NAMES: [(&str, Self); [$($name),*].len()] = [$(($name, Self::$variant)),*];
            }
        )*

        $crate::parameters::named_values! { $($type: $type::NAMES;)* }
    };
}

pub(crate) use {named_values, plain_values};

plain_values! {
    bool: |section: &Section<'_>, key| section.flag(key).map(|found| found.value), |own: &Self| Some(own.to_string()) => Takes::Flag;
    f64: |section: &Section<'_>, key| section.number(key).map(|found| found.value), |own: &Self| Some(own.to_string()) => Takes::Number;
    u16: whole, |own: &Self| Some(own.to_string()) => Takes::Whole;
    u32: whole, |own: &Self| Some(own.to_string()) => Takes::Whole;
    u64: whole, |own: &Self| Some(own.to_string()) => Takes::Whole;
    Epsilon: |section, key| positive(section, key, "1.0"), |own: &Self| Some(own.to_string()) => Takes::Epsilon;
    Vec<String>: |section: &Section<'_>, key| section.texts(key).map(|found| found.value),
        |own: &Self| (!own.is_empty()).then(|| own.join(", ")) => Takes::Columns;
}

/// An optional parameter: if it is not given, a rule or another parameter decides.
impl<T: Value<Given = T>> Value for Option<T> {
    type Given = T;

    fn new(given: T) -> Self {
        Some(given)
    }

    fn given(&self) -> Option<&T> {
        self.as_ref()
    }

    fn read(section: &Section<'_>, key: &str) -> Option<T> {
        T::read(section, key)
    }

    fn shown(&self) -> Option<String> {
        self.as_ref().and_then(T::shown)
    }

    fn takes() -> Takes {
        T::takes()
    }
}

/// An ε that has no default: nobody else can say how much may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeededEpsilon(pub(crate) Option<Epsilon>);

impl NeededEpsilon {
    /// The ε. Parameters that were built have one.
    pub(crate) fn get(&self) -> &Epsilon {
        self.0.as_ref().unwrap_or(&Epsilon::ZERO)
    }

    /// Checks that it was given and is above zero.
    pub(crate) fn check(&self, key: &'static str, owner: &str) -> Result<(), Error> {
        let why = match self.0 {
            None => format!(
                "{key} is missing, and has no default: set it with {owner}::builder().{key}(\"1.0\".parse()?), or with {key} = 1.0 in a job"
            ),
            Some(Epsilon::ZERO) => format!("{key} = 0 is invalid: write a number above zero"),
            Some(_) => return Ok(()),
        };
        Err(Error::parameter(key, why))
    }
}

impl Value for NeededEpsilon {
    type Given = Epsilon;

    fn new(given: Epsilon) -> Self {
        Self(Some(given))
    }

    fn given(&self) -> Option<&Epsilon> {
        self.0.as_ref()
    }

    fn read(section: &Section<'_>, key: &str) -> Option<Epsilon> {
        Epsilon::read(section, key)
    }

    fn shown(&self) -> Option<String> {
        self.get().shown()
    }

    fn takes() -> Takes {
        Takes::NeededEpsilon
    }
}

/// Whether equally many rows of both classes are used. Plans state it themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balance(pub(crate) bool);

impl Value for Balance {
    type Given = bool;

    fn new(given: bool) -> Self {
        Self(given)
    }

    fn given(&self) -> Option<&bool> {
        Some(&self.0)
    }

    fn read(section: &Section<'_>, key: &str) -> Option<bool> {
        bool::read(section, key)
    }

    fn shown(&self) -> Option<String> {
        None
    }

    fn takes() -> Takes {
        Takes::Flag
    }

    fn default_text(&self, _: &'static str) -> Option<String> {
        Some(self.0.to_string())
    }
}

/// A whole number that fits.
pub fn whole<T: TryFrom<i64>>(section: &Section<'_>, key: &str) -> Option<T> {
    fits(section, key, section.integer(key)?.value)
}

/// The number as one of another type, or a finding.
pub fn fits<T: TryFrom<i64>>(section: &Section<'_>, key: &str, number: i64) -> Option<T> {
    let fitting = T::try_from(number).ok();
    if fitting.is_none() {
        let why = format!("{key} = {number} is invalid: write a number such as {key} = 10");
        section.finding_at(key, why);
    }
    fitting
}

/// An ε above zero, such as the example.
pub fn positive(section: &Section<'_>, key: &str, example: &str) -> Option<Epsilon> {
    let number = section.number(key)?.value;
    let epsilon = Epsilon::new(number)
        .ok()
        .filter(|epsilon| *epsilon > Epsilon::ZERO);
    if epsilon.is_none() {
        let why = format!(
            "{key} = {number} is invalid: write a number above zero with at most nine decimals, such as {key} = {example}"
        );
        section.finding_at(key, why);
    }
    epsilon
}

/// The name of an option in a job.
pub(crate) fn name_of<T: PartialEq>(names: &[(&'static str, T)], option: &T) -> String {
    let found = names.iter().find(|(_, other)| other == option);
    found.map_or(String::new(), |(name, _)| (*name).to_owned())
}

/// Checks that a number lies in its range.
pub(crate) fn within<T: PartialOrd + Display>(
    key: &'static str,
    value: Option<&T>,
    range: &RangeInclusive<T>,
) -> Result<(), Error> {
    match value.filter(|value| !range.contains(value)) {
        None => Ok(()),
        Some(value) => Err(Error::parameter(
            key,
            format!(
                "{key} = {value}: it must lie between {} and {}",
                range.start(),
                range.end()
            ),
        )),
    }
}

/// The parameters of one algorithm.
pub trait Parameters: Default + Clone {
    /// The algorithm's name in a job.
    const NAME: &'static str;
    /// The parameters' names in a job.
    const KEYS: &'static [&'static str];
    /// What it is, line by line.
    const ABOUT: &'static [&'static str];

    /// Every parameter, as a job can give it; these are the defaults.
    fn reference(&self) -> Vec<KeyReference>;

    /// Takes the values of a job. An invalid value is a finding at its line and changes nothing.
    fn read(&mut self, section: &Section<'_>);

    /// Checks that each parameter lies in its range, and that they agree with each other.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first that does not.
    fn check(&self) -> Result<(), Error>;

    /// Names and values, as a job says them and a model keeps them.
    fn settings(&self) -> Vec<(String, String)>;
}

/// An algorithm's name in a job.
pub trait Name {
    /// Its name in a job.
    fn name(&self) -> &'static str;
}

impl<P: Parameters> Name for P {
    fn name(&self) -> &'static str {
        P::NAME
    }
}

/// Collects the parameters of one algorithm. Each has a default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Builder<P> {
    pub(crate) parameters: P,
}

impl<P: Parameters> Builder<P> {
    /// Starts from these parameters, to change some.
    pub fn of(parameters: P) -> Self {
        Self { parameters }
    }

    /// Checks that every parameter is valid.
    ///
    /// # Errors
    /// [`Error::Parameter`] with one that is not.
    pub fn build(self) -> Result<P, Error> {
        self.parameters.check()?;
        Ok(self.parameters)
    }
}

/// Calls the progress callback; an error if it asks to stop.
pub(crate) fn at(progress: Progress<'_>, done: u64, of: u64) -> Result<(), Error> {
    match progress(done, of) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Stopped),
    }
}

/// Declares the parameters of an algorithm:
///
/// ```text
/// /// What they are.
/// pub struct Stumps("stumps") {
///     /// Rounds at most.
///     rounds: u32 = 100, in 1..=100_000;
/// } where Self::agree
/// ```
///
/// `agree` checks several parameters together, and is optional.
macro_rules! parameters {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident($text:literal) {
            $($(#[doc = $about:literal])* $key:ident: $type:ty = $default:expr $(, in $range:expr)?;)*
        } $(where $agree:path)?
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(#[doc = $about])* pub(crate) $key: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($key: $default,)* }
            }
        }

        impl $name {
            /// Every parameter has its default.
            pub fn builder() -> $crate::parameters::Builder<Self> {
                $crate::parameters::Builder::default()
            }
        }

        impl $crate::parameters::Builder<$name> {
            $(
                $(#[doc = $about])*
                #[must_use]
                pub fn $key(mut self, $key: <$type as $crate::parameters::Value>::Given) -> Self {
                    self.parameters.$key = $crate::parameters::Value::new($key);
                    self
                }
            )*
        }

        #[allow(unused_imports, unused_mut, unused_variables, reason = "an algorithm may have no parameters")]
        impl $crate::parameters::Parameters for $name {
            const NAME: &'static str = $text;
            const KEYS: &'static [&'static str] = &[$(stringify!($key)),*];
            const ABOUT: &'static [&'static str] = &[$($doc),*];

            fn reference(&self) -> Vec<$crate::parameters::KeyReference> {
                use $crate::parameters::{KeyReference, Value};
                vec![$(KeyReference {
                    name: stringify!($key),
                    about: $crate::parameters::sentence(&[$($about),*]),
                    takes: <$type as Value>::takes(),
                    range: None$(.or(Some($crate::parameters::ends(&$range))))?,
                    default: self.$key.default_text(stringify!($key)),
                }),*]
            }

            fn read(&mut self, section: &$crate::data::Section<'_>) {
                use $crate::parameters::Value;
                $(
                    let key = stringify!($key);
                    if let Some(given) = <$type as Value>::read(section, key) {
                        let own = <$type as Value>::new(given);
                        match Ok::<(), $crate::Error>(())
                            $(.and($crate::parameters::within(key, own.given(), &$range)))?
                        {
                            Ok(()) => self.$key = own,
                            Err(e) => section.finding_at(key, e.to_string()),
                        }
                    }
                )*
            }

            fn check(&self) -> Result<(), $crate::Error> {
                use $crate::parameters::Value;
                $($($crate::parameters::within(stringify!($key), self.$key.given(), &$range)?;)?)*
                $($agree(self)?;)?
                Ok(())
            }

            fn settings(&self) -> Vec<(String, String)> {
                use $crate::parameters::Value;
                let mut all = Vec::new();
                $(all.extend(self.$key.named(stringify!($key)));)*
                all
            }
        }
    };
}

/// Lets everybody read parameters that were checked.
macro_rules! readable {
    ($($name:ident { $($key:ident: $type:ty),* $(,)? })*) => {$(
        impl $name {$(
            /// The parameter, as the builder of this type describes it.
            pub fn $key(&self) -> &$type {
                &self.$key
            }
        )*}
    )*};
}

pub(crate) use {parameters, readable};

mod reference;
pub use reference::{AlgorithmReference, KeyReference, Takes};
pub(crate) use reference::{ends, sentence};

/// An algorithm of a setting, by its name in a job.
pub(crate) struct Named<A: ?Sized> {
    pub(crate) name: &'static str,
    pub(crate) keys: &'static [&'static str],
    pub(crate) read: fn(&Section<'_>) -> Option<Box<A>>,
}

/// Declares the algorithms that a job of a setting can name, and how one is read from a job.
macro_rules! algorithms {
    ($($algorithm:ty),* $(,)?) => {
        /// The algorithm that a job names, with its parameters. Whatever is wrong with them is a finding at its line.
        pub fn read(section: &$crate::data::Section<'_>) -> Option<Box<dyn Algorithm>> {
            use $crate::parameters::{self, Named, Parameters};
            const ALL: &[Named<dyn Algorithm>] = &[$(Named {
                name: <$algorithm as Parameters>::NAME,
                keys: <$algorithm as Parameters>::KEYS,
                read: |section| Some(Box::new(parameters::read(<$algorithm>::default(), section)?)),
            }),*];
            parameters::chosen(section, ALL)
        }

        /// Every algorithm that a job can name, with its parameters.
        pub fn reference() -> Vec<$crate::parameters::AlgorithmReference> {
            vec![$($crate::parameters::AlgorithmReference::of(&<$algorithm>::default())),*]
        }
    };
}

pub(crate) use algorithms;

/// The parameters that a section gives, over those that stand there already. Whatever is wrong with them is a finding at its line.
pub fn read<P: Parameters>(mut parameters: P, section: &Section<'_>) -> Option<P> {
    parameters.read(section);
    let checked = parameters.check();
    checked.map_err(|e| finding(section, &e)).ok()?;
    Some(parameters)
}

/// The parameter that an error is about.
pub fn key(e: &Error) -> Option<&str> {
    match e {
        Error::Parameter(parameter) => parameter.key(),
        _ => None,
    }
}

/// A finding at the parameter that an error is about, or else at the name of the algorithm.
pub fn finding(section: &Section<'_>, e: &Error) {
    let key = key(e).filter(|key| section.knows(key));
    section.finding_at(key.unwrap_or("name"), e.to_string());
}

/// The algorithm that a job names, with its parameters. Whatever is wrong is a finding at its line.
pub(crate) fn chosen<A: ?Sized>(section: &Section<'_>, all: &[Named<A>]) -> Option<Box<A>> {
    let places = all.iter().enumerate().map(|(place, named)| (named.name, place));
    all.iter().for_each(|named| section.allow(named.keys));
    let own = &all[section
        .required_choice("name", &places.collect::<Vec<_>>())?
        .value];
    let foreign = |key: &&str| !own.keys.contains(key) && all.iter().any(|named| named.keys.contains(key));
    for key in section.keys().filter(foreign) {
        let owners = all.iter().filter(|named| named.keys.contains(&key));
        let why = belongs(key, owners.map(|named| named.name), own.name);
        section.finding_at(key, why);
    }
    (own.read)(section)
}

/// The finding that a parameter belongs to other algorithms.
pub(crate) fn belongs(key: &str, owners: impl Iterator<Item = &'static str>, name: &str) -> String {
    let owners: Vec<String> = owners.map(|owner| format!("\"{owner}\"")).collect();
    format!(
        "{key} belongs to the algorithm {}, not to \"{name}\": remove it",
        owners.join(" or ")
    )
}
