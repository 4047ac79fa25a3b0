internal import WiretapeMessages
internal import WiretapeProtocol

/// The operations of a tape, found by what a client asks: exchanges that are one, and the chains of sessions.
struct OperationBook: Sendable {
    struct Operation: Sendable {
        /// The session that it is.
        var recorded: SessionLibrary.ID
        /// The client's request.
        var request: Message
        var key: UInt64
    }

    /// Exchanges first, each kind in recorded order.
    private(set) var all: [Operation] = []
    private var byKey: [UInt64: [Int]] = [:]
    /// The pseudonyms in what clients asked.
    private(set) var variables = TapeVariables()

    mutating func add(_ recorded: SessionLibrary.ID, _ request: Message, _ ignore: [IgnoreRule]) {
        let key = Script.key(request, at: nil, ignore: ignore)
        byKey[key, default: []].append(all.count)
        variables.add(request)
        all.append(Operation(recorded: recorded, request: request, key: key))
    }

    /// Those of equal meaning, in order.
    func equal(to key: UInt64) -> [Operation] { (byKey[key] ?? []).map { all[$0] } }
}
