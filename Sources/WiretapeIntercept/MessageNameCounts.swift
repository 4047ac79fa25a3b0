internal import WiretapeBytes
internal import WiretapeMessages

/// How many messages of a run have each name that a rule can use. Reports use it to explain a rule that never fired.
struct MessageNameCounts {
    private var counts: [String: Int] = [:]

    /// Messages are not counted any more once there are this many names.
    private static let limit = 4_096

    mutating func add(_ message: Message) {
        guard counts.count < MessageNameCounts.limit else { return }
        MessageNames.count(message.role, message.type, message.label, message.channel, into: &counts)
    }

    func count(_ name: String) -> Int { counts[name] ?? 0 }

    /// The counted name that is most similar to `name`; nil when none is similar.
    func nearest(to name: String) -> String? { NearestName.find(name, among: counts.keys.sorted()) }
}
