//! Methods that give a part of a value.

/// Declares such methods: name, the part, and its type.
///
/// ```text
/// getters! {
///     /// How many entries the chain has.
///     pub number(body.number) -> u64;
///     /// What happened.
///     pub event(&body.event) -> &Event;
/// }
/// ```
macro_rules! getters {
    ($($(#[$doc:meta])* $vis:vis $name:ident($($part:tt)+) -> $type:ty;)*) => {$(
        $(#[$doc])*
        $vis fn $name(&self) -> $type {
            $crate::privacy::getters!(@ self $($part)+)
        }
    )*};
    (@ $this:ident & $($part:tt)+) => { &$this.$($part)+ };
    (@ $this:ident $($part:tt)+) => { $this.$($part)+ };
}

pub(crate) use getters;
