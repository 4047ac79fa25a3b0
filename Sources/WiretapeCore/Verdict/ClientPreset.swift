/// What a named real client does after its connection has ended: attempt times, jitter, caps, giving up, from the
/// client's own source and runs (`docs/protocols/`). A preset is one file and one line in ``all``.
package struct ClientPreset: Sendable {
    /// `signalr-js`.
    package var name: String
    /// One line for help texts.
    package var summary: String
    /// Arguments that the preset takes besides the tolerance, for instance `interval`.
    package var parameters: [String]
    /// The values of the arguments that were given, in nanoseconds.
    package var values: [String: UInt64] = [:]
    let rule: @Sendable (RetryState, [String: UInt64]) -> NextAttempt

    init(
        _ name: String, _ summary: String, parameters: [String] = [],
        _ rule: @escaping @Sendable (RetryState, [String: UInt64]) -> NextAttempt
    ) {
        self.name = name
        self.summary = summary
        self.parameters = parameters
        self.rule = rule
    }

    package func next(_ state: RetryState) -> NextAttempt { rule(state, values) }

    package static let all: [ClientPreset] = [
        .signalrJS, .signalrSwift, .signalrSwiftMoozzyk, .pysignalr, .graphqlWS, .apolloIOS, .eventflitSwift,
        .eventflitJS, .atmosphereJS,
    ]
}

extension ClientPreset: Hashable {
    package static func == (a: ClientPreset, b: ClientPreset) -> Bool { a.name == b.name && a.values == b.values }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(values)
    }
}

/// Nanoseconds of a second and a millisecond, for the presets.
let second: UInt64 = 1_000_000_000
let millisecond: UInt64 = 1_000_000
