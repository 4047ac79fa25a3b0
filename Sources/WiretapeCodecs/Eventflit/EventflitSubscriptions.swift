/// Channels whose subscription the server has not answered yet, oldest first.
///
/// It remembers the 4,096 latest, so that a server that never answers costs bounded memory.
struct EventflitSubscriptions: Hashable, Sendable {
    private static let limit = 4_096

    private var waiting: [String] = []

    mutating func ask(_ channel: String) {
        waiting.append(channel)
        if waiting.count >= EventflitSubscriptions.limit * 2 {
            waiting.removeFirst(EventflitSubscriptions.limit)
        }
    }

    mutating func answer(_ channel: String) {
        if let at = waiting.firstIndex(of: channel) { waiting.remove(at: at) }
    }

    /// The channel that an error's text names, the longest name among several: errors have no channel of their own.
    func named(in text: String) -> String? {
        waiting.filter { text.contains($0) }.max { $0.utf8.count < $1.utf8.count }
    }
}
