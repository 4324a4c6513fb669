//! Our samplers against OpenDP's, and the licences of what that takes.

mod licences;
mod samplers;
