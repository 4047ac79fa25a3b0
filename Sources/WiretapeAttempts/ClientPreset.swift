package import WiretapeBytes

/// What a named real client does after its connection has ended: attempt times, jitter, caps, giving up, from the
/// client's own source and runs (`docs/protocols/`). A preset is one file and one line in ``all``.
package struct ClientPreset: Sendable {
    /// `signalr-js`.
    package var name: String
    /// One line for help texts.
    package var summary: String
    /// What the client lets its application choose, for instance `interval`.
    package var parameters: [Parameter]
    /// The values that were given.
    package var values = Values()
    package let rule: @Sendable (RetryState, Values) -> NextAttempt

    init(
        _ name: String, _ summary: String, parameters: [Parameter] = [],
        _ rule: @escaping @Sendable (RetryState, Values) -> NextAttempt
    ) {
        self.name = name
        self.summary = summary
        self.parameters = parameters
        self.rule = rule
    }

    package func next(_ state: RetryState) -> NextAttempt { rule(state, values) }

    package static let all: [ClientPreset] = [
        .signalrJS, .signalrDotnet, .signalrSwift, .signalrSwiftMoozzyk, .pysignalr, .graphqlWS, .apolloIOS,
        .apolloIOS1,
        .eventflitSwift, .pusherSwift, .eventflitJS, .atmosphereJS, .eventsource,
    ]

    /// The parameters of all of them, each name once.
    static var allParameters: [String] {
        var names: [String] = []
        for parameter in all.flatMap(\.parameters) where !names.contains(parameter.name) {
            names.append(parameter.name)
        }
        return names
    }
}

extension ClientPreset {
    /// Something that the client lets its application choose: `interval=2s`, `max=6`, `delays=0s|1s|5s`.
    package struct Parameter: Sendable {
        package enum Kind: Sendable { case duration, durations, count }

        package var name: String
        package var kind: Kind

        package static func duration(_ name: String) -> Parameter { Parameter(name: name, kind: .duration) }
        static func durations(_ name: String) -> Parameter { Parameter(name: name, kind: .durations) }
        package static func count(_ name: String) -> Parameter { Parameter(name: name, kind: .count) }

        package func read(_ text: String) throws(OptionError) -> [UInt64] {
            switch kind {
            case .duration: [try PolicyArguments.duration(text)]
            case .durations: try PolicyArguments.durations(text)
            case .count: [UInt64(try PolicyArguments.count(text, name))]
            }
        }
    }

    /// The values of parameters: nanoseconds, and counts.
    package struct Values: Hashable, Sendable {
        private var values: [String: [UInt64]] = [:]

        package init() {}

        package subscript(name: String) -> [UInt64]? {
            get { values[name] }
            set { values[name] = newValue }
        }

        package func duration(_ name: String) -> UInt64? { values[name]?.first }
        package func count(_ name: String) -> Int? { values[name]?.first.map { Int(clamping: $0) } }
        func durations(_ name: String) -> [UInt64]? { values[name] }
    }
}

extension ClientPreset: Hashable {
    package static func == (a: ClientPreset, b: ClientPreset) -> Bool { a.name == b.name && a.values == b.values }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(values)
    }
}

/// Nanoseconds of a second and a millisecond, for the presets.
package let second: UInt64 = 1_000_000_000
let millisecond: UInt64 = 1_000_000
