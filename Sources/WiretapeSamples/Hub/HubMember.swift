internal import WiretapeBytes
internal import WiretapeRuntime
internal import WiretapeWire

/// One client of the hub, from its handshake on.
final class HubMember {
    struct Upload {
        var sum = 0
        let call: String
    }

    let hub: SampleHub
    private weak var connection: HubServerConnection?
    private let user: String
    private var number = 0
    private var isShaken = false
    /// Bytes of a record whose end has not come: a client's messages may be cut anywhere.
    private var partial: [UInt8] = []
    private var lastHeard: WireInstant
    private var watch: (any LoopTimer)?
    private var keepAlive: (any LoopTimer)?
    private var delays: [Int: any LoopTimer] = [:]
    private var nextDelay = 0
    private(set) var hasLeft = false

    var wantsTicks = false
    /// Streams under way.
    var running: Set<String> = []
    /// By stream id.
    var uploads: [String: Upload] = [:]
    /// Calls of the server that wait for the client's result.
    var asked: [String: (HubResult) -> Void] = [:]

    init(_ hub: SampleHub, _ connection: HubServerConnection, user: String) {
        self.hub = hub
        self.connection = connection
        self.user = user
        lastHeard = hub.loop.now
        watch = hub.loop.timer { [weak self] in self?.look() }
        keepAlive = hub.loop.timer { [weak self] in self?.ping() }
        watch?.arm(at: hub.loop.now.advanced(by: hub.options.clientTimeout))
    }

    // MARK: In and out

    func received(_ payload: [UInt8]) {
        lastHeard = hub.loop.now
        partial.append(contentsOf: payload)
        guard let end = partial.lastIndex(of: HubMessage.separator) else {
            // As the real one: 32 KiB for a message.
            if partial.count > 32 << 10 { fail("The maximum message size was exceeded.") }
            return
        }
        let whole = Array(partial[...end])
        partial.removeFirst(end + 1)
        let span = whole.span
        do throws(HubMessage.Malformed) {
            for record in try HubMessage.records(span) where !hasLeft {
                if isShaken {
                    handle(try HubMessage(reading: span.extracting(record)))
                } else {
                    shake(span.extracting(record))
                }
            }
        } catch {
            fail(error.reason)
        }
    }

    func send(_ messages: HubMessage...) {
        var payload: [UInt8] = []
        for message in messages { message.write(into: &payload) }
        connection?.send(payload)
    }

    /// Calls a method of the client that wants no answer.
    func push(_ target: String, _ arguments: [JSONValue]) {
        guard isShaken else { return }
        send(.invocation(id: nil, target: target, arguments: arguments, streams: []))
    }

    /// Runs `body` later, unless the member has left by then.
    func after(_ nanoseconds: UInt64, _ body: @escaping () -> Void) {
        guard !hasLeft else { return }
        nextDelay += 1
        let mine = nextDelay
        let timer = hub.loop.timer { [weak self] in
            self?.delays.removeValue(forKey: mine)?.close()
            body()
        }
        delays[mine] = timer
        timer.arm(at: hub.loop.now.advanced(by: nanoseconds))
    }

    // MARK: Coming and going

    private func shake(_ record: Span<UInt8>) {
        let request = try? JSONValue(parsing: record)
        guard request?["protocol"]?.string == "json", let version = request?["version"]?.int, version <= 1 else {
            let name = request?["protocol"]?.string ?? ""
            let error = JSONValue.object([.init("error", .string("The protocol '\(name)' is not supported."))])
            connection?.send(Array((error.text + "\u{1e}").utf8))
            connection?.close(code: 1000)
            return
        }
        connection?.send(Array("{}\u{1e}".utf8))
        isShaken = true
        number = hub.join(self)
        keepAlive?.arm(at: hub.loop.now.advanced(by: hub.options.keepAlive))
        push("Welcome", [.string("hello \(user)")])
    }

    /// The protocol's close, then the WebSocket's.
    func close(error: String? = nil, allowReconnect: Bool = false) {
        send(.close(error: error, allowReconnect: allowReconnect))
        connection?.close(code: 1000)
    }

    func cut() { connection?.cut() }

    private func fail(_ reason: String) { close(error: "Connection closed with an error. \(reason)") }

    /// The connection is over for the member.
    func left() {
        guard !hasLeft else { return }
        hasLeft = true
        watch?.close()
        keepAlive?.close()
        for key in delays.keys.sorted() { delays[key]?.close() }
        delays = [:]
        asked = [:]
        if isShaken { hub.leave(number) }
    }

    private func look() {
        guard hub.loop.now.since(lastHeard) >= hub.options.clientTimeout else {
            watch?.arm(at: lastHeard.advanced(by: hub.options.clientTimeout))
            return
        }
        close(error: "Server timeout elapsed without receiving a message from the client.")
    }

    private func ping() {
        send(.ping)
        keepAlive?.arm(at: hub.loop.now.advanced(by: hub.options.keepAlive))
    }
}
