internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeWire

/// Where the streams of all connections put what they find: records, as the recorder's loops make them, and what is told of the
/// whole.
final class CaptureOutput {
    /// Closed connections that are listed one by one.
    static let mostClosed = 1000

    /// Servers that have a name.
    static let mostServers = 64

    private(set) var records: [UInt8] = []
    private(set) var firstRecord: UInt64 = 0
    var report = CaptureReport()
    /// The tape's header is written: no server gets a name any more.
    var isSealed = false
    private var lastConnection: UInt32 = 0
    private var lastTick: UInt64 = 0

    /// What the server is called on the tape: `main` is the first one that is met.
    func name(of url: String) -> String {
        if let known = report.servers.first(where: { $0.url == url }) { return known.name }
        let name = report.servers.isEmpty ? "main" : "server\(report.servers.count + 1)"
        // A tape of so many servers is replayed as one, and so is one whose header is written.
        guard report.servers.count < CaptureOutput.mostServers, !isSealed else {
            report.unnamedServers.insert(url)
            return "main"
        }
        report.servers.append((name, url))
        return name
    }

    /// The next connection's number.
    func open(_ open: TapeEvent.Open, at time: UInt64) -> UInt32 {
        lastConnection += 1
        report.connections += 1
        put(.open, lastConnection, at: time, OpenRecord.encode(open).span)
        return lastConnection
    }

    func put(
        _ kind: RecordKind, _ connection: UInt32, flags: UInt8 = 0, x: UInt32 = 0, at time: UInt64,
        _ payload: Span<UInt8>
    ) {
        if records.isEmpty { firstRecord = time }
        RecordBatch.append(
            kind, connection, flags: flags, x: x, at: WireInstant(nanoseconds: time), payload, to: &records)
    }

    /// Bytes are missing, and the tape says so.
    func miss(_ count: UInt64?, _ connection: UInt32, _ direction: Direction, x: UInt32, at time: UInt64) {
        var payload: [UInt8] = []
        if let count { payload.append(littleEndian: count) }
        put(.lost, connection, flags: RecordFlags.direction(direction), x: x, at: time, payload.span)
    }

    /// A packet came at this time: what waits for time is told to.
    func tick(at time: UInt64) {
        guard time > lastTick, time - lastTick >= 1_000_000 else { return }
        lastTick = time
        put(.tick, 0, at: time, Span())
    }

    func close(_ closed: CaptureClosed) {
        if report.closed.count < CaptureOutput.mostClosed {
            report.closed.append(closed)
        } else {
            report.moreClosed += 1
        }
    }

    /// The records so far.
    func takeRecords() -> (records: [UInt8], oldest: UInt64) {
        let taken = (records, firstRecord)
        records = []
        records.reserveCapacity(min(taken.0.count, 4 << 20))
        return taken
    }
}
