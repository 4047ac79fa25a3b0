import WiretapeProtocol
import WiretapeTape
import WiretapeTapeTools
import WiretapeWire

/// What a tape holds of one connection, written down in a form that does not depend on how bodies were cut: per direction
/// the data (heads, bodies, messages) and the control frames. What a cut leaves of it is a prefix of what was planned.
struct TapeContent {
    struct Side {
        var data: [UInt8] = []
        var control: [UInt8] = []
        /// Requests or responses by exchange: they may be written out of order.
        fileprivate var exchanges: [UInt32: [UInt8]] = [:]
    }

    var toServer = Side()
    var toClient = Side()
    var targets: [String] = []
    var gone: [String] = []
    /// Answers that the proxy made.
    var own: [Int] = []
    var opens = 0

    /// The connections of a tape in order, and whatever is wrong with its order.
    static func read(_ tape: [UInt8]) throws -> (connections: [TapeContent], problems: [String]) {
        var reader = try TapeReader(bytes: tape, name: "simulated.tape")
        var contents: [UInt32: TapeContent] = [:]
        var problems: [String] = []
        var last: UInt64 = 0
        var count: UInt64 = 0
        while let numbered = try reader.next() {
            let event = numbered.event
            if event.time < last { problems.append("event \(numbered.number): time goes back") }
            last = event.time
            if case .stop(let events, let connections, _) = event.kind {
                if events != count { problems.append("stop says \(events) events, there are \(count)") }
                if connections != UInt64(contents.count) { problems.append("stop says \(connections) connections") }
                continue
            }
            count += 1
            contents[event.connection, default: TapeContent()].add(event.kind)
        }
        if !reader.isStopped { problems.append("no stop") }
        let connections = contents.keys.sorted().compactMap { key -> TapeContent? in
            var content = contents[key]
            content?.finish()
            return content
        }
        return (connections, problems)
    }

    // MARK: How planned things are written down

    static func request(_ method: String, _ target: String) -> [UInt8] { Array("REQUEST \(method) \(target)\n".utf8) }
    static func response(_ status: Int) -> [UInt8] { Array("RESPONSE \(status)\n".utf8) }
    static func end(_ trailers: [HeaderField]) -> [UInt8] {
        Array(("\nEND" + trailers.map { " \($0.name)=\($0.value)" }.joined() + "\n").utf8)
    }
    static func messageStart(_ opcode: Opcode) -> [UInt8] { Array("MESSAGE \(opcode):".utf8) }
    static func messageEnd(_ fragments: [Int]) -> [UInt8] { Array("|\(fragments)\n".utf8) }
    static func ping(_ payload: [UInt8], isPong: Bool) -> [UInt8] {
        Array((isPong ? "PONG " : "PING ").utf8) + payload + [0x0a]
    }
    static func close(_ code: UInt16?, _ reason: String) -> [UInt8] {
        Array("CLOSE \(code.map(String.init) ?? "") \(reason)\n".utf8)
    }

    // MARK: Events

    private mutating func add(_ kind: TapeEvent.Kind) {
        switch kind {
        case .open: opens += 1
        case .request(let x, let head, let body):
            targets.append(head.target)
            toServer.exchanges[x, default: []] += TapeContent.request(head.method, head.target)
            add(body, to: .toServer, x)
        case .response(let x, let head, let body, let interim, _, let proxy):
            if proxy {
                own.append(head.status)
                return
            }
            toClient.exchanges[x, default: []] += TapeContent.response(head.status)
            if !interim, head.status != 101 { add(body, to: .toClient, x) }
        case .chunk(let x, let direction, let bytes): change(direction) { $0.exchanges[x, default: []] += bytes }
        case .end(let x, let direction, let trailers):
            change(direction) { $0.exchanges[x, default: []] += TapeContent.end(trailers) }
        case .message(let direction, let opcode, let payload, _, let fragments):
            change(direction) {
                $0.data += TapeContent.messageStart(opcode) + payload + TapeContent.messageEnd(fragments)
            }
        case .part(let direction, let opcode, let n, let payload, let last):
            change(direction) {
                $0.data += (n == 0 ? TapeContent.messageStart(opcode) : []) + payload
                if last { $0.data += TapeContent.messageEnd([]) }
            }
        case .ping(let direction, let payload):
            change(direction) { $0.control += TapeContent.ping(payload, isPong: false) }
        case .pong(let direction, let payload):
            change(direction) { $0.control += TapeContent.ping(payload, isPong: true) }
        case .close(let direction, let code, let reason):
            change(direction) { $0.control += TapeContent.close(code, reason ?? "") }
        case .gone(let party, let how, _): gone.append("\(party) \(how)")
        case .frame, .fault, .mark, .take, .gap, .missing, .stop, .unknown: break
        }
    }

    private mutating func add(_ body: TapeEvent.Body, to direction: Direction, _ x: UInt32) {
        let bytes: [UInt8]
        switch body {
        case .none: bytes = TapeContent.end([])
        case .whole(let whole): bytes = whole + TapeContent.end([])
        case .streamed: return
        }
        change(direction) { $0.exchanges[x, default: []] += bytes }
    }

    private mutating func change(_ direction: Direction, _ body: (inout Side) -> Void) {
        if direction == .toServer { body(&toServer) } else { body(&toClient) }
    }

    /// Exchanges come before a tunnel's messages.
    private mutating func finish() {
        for direction in [Direction.toServer, .toClient] {
            change(direction) { side in
                side.data = side.exchanges.keys.sorted().flatMap { side.exchanges[$0] ?? [] } + side.data
            }
        }
    }

    func side(_ direction: Direction) -> Side { direction == .toServer ? toServer : toClient }
}
