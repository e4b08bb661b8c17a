//! The PHP face: converts values and throws exceptions; knows no Redis command.
