internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol

/// The names that rules could have named messages by, and how often they came: for rules that never fire.
struct MessageNames {
    private var counts: [String: Int] = [:]

    private static let most = 4_096

    mutating func add(_ message: Message) {
        guard counts.count < MessageNames.most else { return }
        switch message.role {
        case .keepalive, .ack, .opaque: return
        case .reply, .part, .cancel: counts[message.type, default: 0] += 1
        case .handshake, .request, .send, .push, .close:
            counts[message.type, default: 0] += 1
            if let label = message.label, label != message.type { counts[label, default: 0] += 1 }
            if let channel = message.channel, channel != message.label, channel != message.type {
                counts[channel, default: 0] += 1
            }
        }
    }

    func count(_ name: String) -> Int { counts[name] ?? 0 }

    /// The name that is most like one that did not come.
    func nearest(to name: String) -> String? { NearestName.find(name, among: counts.keys.sorted()) }
}
