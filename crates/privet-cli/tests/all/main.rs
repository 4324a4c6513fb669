//! Everything about the command and its files that is tested from outside, in one program.
#![allow(clippy::unwrap_used, reason = "tests")]

mod aliases;
mod bounds;
mod budget;
mod certificates;
mod cli;
mod collect;
mod collect_kill;
mod columns;
mod corpora;
mod damage;
mod examples;
mod exchanged;
mod handler;
mod home;
mod interrupt;
mod joint_sums;
mod kill;
mod modes;
mod names;
mod network;
mod once;
mod order;
mod output;
mod predictions;
mod record;
mod sharing;
mod signing;
mod silence;
mod stumbles;
mod tables;
