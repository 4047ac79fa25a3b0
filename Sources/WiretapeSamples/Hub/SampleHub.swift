internal import WiretapeBytes
package import WiretapeRuntime
internal import WiretapeWire

/// A small SignalR server: a chat hub at one path, JSON over WebSockets. It plays the real server in the demo and in tests.
///
/// Methods: `Echo`, `Add`, `Fail`, `Slow`, `SendMessage` (everybody gets `ReceiveMessage`), `Burst`, `Counter` and
/// `CounterThenFail` (streams), `Sum` (an upload), `AskBack` (a client result), `Ticks` (a `Tick` twice a second), `Abort`.
package final class SampleHub {
    package struct Options: Sendable {
        package var path = "/chat"
        package var keepAlive: UInt64 = 15_000_000_000
        package var clientTimeout: UInt64 = 30_000_000_000
        /// For connection ids and tokens.
        package var seed: UInt64

        package init(seed: UInt64) { self.seed = seed }
    }

    /// How long a negotiated token waits for its WebSocket.
    private static let tokenLife: UInt64 = 15_000_000_000
    private static let tick: UInt64 = 500_000_000

    let loop: any Loop
    let options: Options
    private var random: SplitMix64
    private var listener: (any Listener)?
    /// Tokens that no WebSocket has used yet, oldest first.
    private var tokens: [(token: String, id: String, since: WireInstant)] = []
    private var members: [Int: HubMember] = [:]
    private var nextMember = 0
    private var nextCall = 0
    private var ticks = 0
    private var ticker: (any LoopTimer)?
    private var isClosed = false

    /// Listens at once.
    package init(_ loop: any Loop, on address: Address, _ options: Options) throws(NetError) {
        self.loop = loop
        self.options = options
        random = SplitMix64(seed: options.seed)
        // Lifetime: the hub keeps the listener, and closes it before it goes.
        listener = try loop.listen(on: address, reusePort: false) { [unowned self] stream in
            HubServerConnection(self, stream)
        }
    }

    package var address: Address { listener?.address ?? Address(host: "", port: 0) }

    /// Accepts nothing more and closes all connections, telling clients that they may reconnect.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        listener?.close()
        ticker?.close()
        ticker = nil
        for member in inOrder { member.close(allowReconnect: true) }
    }

    /// Cuts all WebSockets without a word.
    package func cut() {
        for member in inOrder { member.cut() }
    }

    // MARK: Negotiation

    /// The body of a negotiate answer.
    func negotiate(_ request: RequestHead) -> JSONValue {
        let asked = request.query.first { equalIgnoringCase($0.name, "negotiateVersion") }?.value ?? "0"
        guard let version = Int(asked), version >= 0 else {
            return .object([.init("error", .string("The client requested an invalid protocol version '\(asked)'"))])
        }
        let id = drawID()
        let token = version == 0 ? id : drawID()
        forgetOldTokens()
        tokens.append((token, id, loop.now))
        var members: [JSONValue.Member] = [
            .init("negotiateVersion", .number(min(version, 1))), .init("connectionId", .string(id)),
        ]
        if version > 0 { members.append(.init("connectionToken", .string(token))) }
        let transport: [JSONValue.Member] = [
            .init("transport", .string("WebSockets")),
            .init("transferFormats", .array([.string("Text"), .string("Binary")])),
        ]
        members.append(.init("availableTransports", .array([.object(transport)])))
        return .object(members)
    }

    /// Whether a WebSocket with this token may open; each token opens one. Without a token the negotiation was skipped.
    func claim(_ token: String?) -> Bool {
        guard let token else { return true }
        forgetOldTokens()
        guard let at = tokens.firstIndex(where: { $0.token == token }) else { return false }
        tokens.remove(at: at)
        return true
    }

    private func forgetOldTokens() {
        tokens.removeAll { loop.now.since($0.since) > Self.tokenLife }
        // Bounded whatever clients do.
        if tokens.count > 10_000 { tokens.removeFirst(tokens.count - 10_000) }
    }

    /// 16 random bytes in base64url, 22 characters.
    private func drawID() -> String {
        var bytes: [UInt8] = []
        for _ in 0..<2 {
            let word = random.next()
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift * 8))) }
        }
        return String(
            Base64.encode(bytes.span).prefix(22).map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }

    // MARK: Members

    private var inOrder: [HubMember] { members.keys.sorted().compactMap { members[$0] } }

    func join(_ member: HubMember) -> Int {
        nextMember += 1
        members[nextMember] = member
        return nextMember
    }

    func leave(_ number: Int) {
        members[number] = nil
        if inOrder.allSatisfy({ !$0.wantsTicks }) {
            ticker?.close()
            ticker = nil
        }
    }

    func broadcast(_ target: String, _ arguments: [JSONValue]) {
        for member in inOrder { member.push(target, arguments) }
    }

    /// The id of a call of the server: one counter for all connections.
    func takeCallID() -> String {
        nextCall += 1
        return "s\(nextCall)"
    }

    func startTicking() {
        guard ticker == nil, !isClosed else { return }
        let ticker = loop.timer { [weak self] in self?.sendTick() }
        self.ticker = ticker
        ticker.arm(at: loop.now.advanced(by: Self.tick))
    }

    private func sendTick() {
        for member in inOrder where member.wantsTicks { member.push("Tick", [.number(ticks)]) }
        ticks += 1
        ticker?.arm(at: loop.now.advanced(by: Self.tick))
    }
}
