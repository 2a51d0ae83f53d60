//! A program that does nothing: what any process of this machine costs.

fn main() {}
