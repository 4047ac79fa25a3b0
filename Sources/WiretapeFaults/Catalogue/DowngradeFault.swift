internal import WiretapeBytes
internal import WiretapeWire

/// `downgrade(ws)`: a transport stops working.
enum DowngradeFault {
    /// Those that carry sessions: an operation over HTTP is one by itself.
    private static let sessions: [Transport] = [.ws, .sse, .lp, .stream]

    package static let entry = FaultEntry(
        word: "downgrade",
        summary: "these transports are no longer offered and no longer served to the session: ws, sse, lp",
        examples: ["downgrade(ws) on connect[1]", "downgrade(ws, sse) + reset after handshake[1]"]
    ) { arguments, text throws(PlanError) in
        var transports: [Transport] = []
        for argument in arguments.arguments {
            guard argument.key == nil, let transport = Transport(rawValue: argument.value),
                sessions.contains(transport)
            else {
                let hint = NearestName.hint(argument.value, among: sessions.map(\.rawValue))
                throw text.error(
                    "'\(argument.key ?? argument.value)' is not a transport to take away: \(sessions.map(\.rawValue).joined(separator: ", "))\(hint)",
                    at: argument.at)
            }
            guard !transports.contains(transport) else {
                throw text.error("'\(argument.value)' stands here twice", at: argument.at)
            }
            transports.append(transport)
        }
        guard !transports.isEmpty else {
            throw text.error("downgrade needs transports: downgrade(ws)", at: arguments.at)
        }
        return (.downgrade(transports), transports.map(\.rawValue).joined(separator: ", "))
    }
}
