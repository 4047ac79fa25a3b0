internal import WiretapeBytes
package import WiretapeWire

/// Who came before anybody had claimed a session: what a run that nobody played tells. Costs nothing afterwards.
package struct Visitors: Sendable {
    /// Requests by method and path in the order of the first of each, at most ``most``.
    private var requests: [(asked: String, count: Int)] = []
    /// Requests beyond those.
    private var others = 0
    /// Connections that have not asked for anything.
    private var silent: Set<ConnectionID> = []
    private var isSilentFull = false

    /// Kinds of requests that are kept by themselves.
    private static let most = 8
    /// Connections that are counted.
    private static let mostSilent = 10_000

    package init() {}

    package mutating func opened(_ connection: ConnectionID) {
        if silent.count < Visitors.mostSilent { silent.insert(connection) } else { isSilentFull = true }
    }

    package mutating func asked(_ connection: ConnectionID, _ head: RequestHead) {
        silent.remove(connection)
        // A query may hold a credential.
        let asked = Summary.line("\(head.method) \(head.path)")
        if let n = requests.firstIndex(where: { $0.asked == asked }) {
            requests[n].count += 1
        } else if requests.count < Visitors.most {
            requests.append((asked, 1))
        } else {
            others += 1
        }
    }

    /// A session is claimed: nobody will ask who came instead.
    mutating func forget() { self = Visitors() }

    /// `no request came`, or `instead came GET / (3 times), POST /v2/negotiate`.
    package var text: String {
        var said = requests.map { $0.count == 1 ? $0.asked : "\($0.asked) (\($0.count) times)" }
        if others > 0 { said.append("\(others) more") }
        var text = said.isEmpty ? "no request came" : "instead came \(said.joined(separator: ", "))"
        if silent.isEmpty { return text }
        let count = isSilentFull ? "more than \(silent.count)" : "\(silent.count)"
        text += silent.count == 1 ? "; 1 connection brought" : "; \(count) connections brought"
        return text + " no request that could be read"
    }
}
