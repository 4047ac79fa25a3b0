/// What becomes of a client that says what the tape does not have: `--on-divergence`.
package enum OnDivergence: Hashable, Sendable { case fail, warn, ignore, stall }
