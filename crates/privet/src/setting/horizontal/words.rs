//! What parties will do, learn and pay, in words.
