//! E0277: a private value has no codec.
use privet::privacy::Private;

fn needs_a_codec<T: serde::Serialize>(_: &T) {}

fn main() {
    needs_a_codec(&Private::new(34));
}
