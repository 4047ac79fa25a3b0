/// What a rule can name a message by: its type and, where it opens something of its own, its label and channel.
package enum MessageNames {
    /// Counts the names of one message. Keepalives, acknowledgements and what was not decoded have none.
    package static func count(
        _ role: Role, _ type: String, _ label: String?, _ channel: String?, into counts: inout [String: Int]
    ) {
        switch role {
        case .keepalive, .ack, .opaque: return
        case .reply, .part, .cancel: counts[type, default: 0] += 1
        case .handshake, .request, .send, .push, .close:
            counts[type, default: 0] += 1
            if let label, label != type { counts[label, default: 0] += 1 }
            if let channel, channel != label, channel != type { counts[channel, default: 0] += 1 }
        }
    }
}
