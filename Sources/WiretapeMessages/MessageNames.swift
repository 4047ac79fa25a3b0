/// What a rule can name a message by: its type and, where it opens something of its own, its label and channel.
package enum MessageNames {
    /// Counts the names of one message. Keepalives, acknowledgements and what was not decoded have none.
    package static func count(
        _ role: Role, _ type: String, _ label: String?, _ channel: String?, into counts: inout [String: Int]
    ) {
        guard ![.keepalive, .ack, .opaque].contains(role) else { return }
        let brought = [.reply, .part, .cancel].contains(role) ? [] : [label, channel].compactMap(\.self)
        for name in Set(brought + [type]) { counts[name, default: 0] += 1 }
    }
}
