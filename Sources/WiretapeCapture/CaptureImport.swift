internal import WiretapeBytes
internal import WiretapePackets

/// Turns a capture file into records of the recorder: pieces of the file in, records out.
package final class CaptureImport {
    private let options: CaptureOptions
    private let keys: KeyLog
    private let output: CaptureOutput
    private var reader = CaptureReader()
    private var fragments = FragmentTable()
    private var table: TCPTable

    /// - Parameter keys: the key log; secrets in the capture are added to it.
    package init(_ options: CaptureOptions, keys: KeyLog) {
        self.options = options
        self.keys = keys
        let output = CaptureOutput()
        self.output = output
        table = TCPTable { CapturedStream($0, ports: options.ports, keys: keys, output) }
    }

    /// What has been found so far.
    package var report: CaptureReport {
        var report = output.report
        report.differingBytes = UInt64(table.differing)
        report.evicted = UInt64(table.evicted)
        report.lostFragments = UInt64(fragments.lost + fragments.unfinished)
        return report
    }

    /// Takes the next piece of the file.
    /// - Returns: false when the file cannot be read on.
    package func feed(_ piece: Span<UInt8>) -> Bool {
        reader.append(piece)
        while true {
            let item = reader.next()
            // The bytes do not change while one item is looked at.
            let bytes = reader.bytes
            switch item {
            case .more: return true
            case .bad(let fault):
                output.report.fault = fault
                return false
            case .secrets(let range):
                let lines = keys.add(bytes.span.extracting(range))
                output.report.badKeyLines += UInt64(lines.bad + lines.tooMany)
            case .packet(let packet): take(packet, bytes.span.extracting(packet.range))
            }
        }
    }

    /// Takes a packet that was captured live.
    /// - Parameters:
    ///   - link: the link type of its interface.
    ///   - time: nanoseconds since 1970.
    ///   - length: bytes that it had; the capture may hold fewer of them.
    package func take(live bytes: Span<UInt8>, link: UInt32, at time: UInt64, length: Int) {
        take(CapturedPacket(link: link, time: time, range: 0..<bytes.count, length: length), bytes)
    }

    /// The tape's header is written: servers that are met from here on get no name.
    package func seal() { output.isSealed = true }

    /// Nothing has come up to `time`: what waits for time goes on.
    package func tick(at time: UInt64) {
        guard output.report.firstTime != nil else { return }
        output.tick(at: time)
    }

    /// The records since the last call, and the time of the first of them.
    package func takeRecords() -> (records: [UInt8], oldest: UInt64) { output.takeRecords() }

    /// The file ends.
    package func finish() {
        if output.report.fault == nil { output.report.tornBytes = reader.unfinished }
        table.finish()
    }

    // MARK: Packets

    private func take(_ packet: CapturedPacket, _ bytes: Span<UInt8>) {
        output.report.packets += 1
        if output.report.firstTime == nil { output.report.firstTime = packet.time }
        output.tick(at: packet.time)
        switch LinkLayer.payload(bytes, link: packet.link) {
        case .other: break
        case .cut: output.report.cutHeaders += 1
        case .unknown(let link): output.report.unknownLinks[link, default: 0] += 1
        case .ip(let at): ip(bytes.extracting(at...), at: packet.time)
        }
    }

    private func ip(_ bytes: Span<UInt8>, at time: UInt64) {
        guard let packet = IPPacket(bytes) else { return output.report.cutHeaders += 1 }
        let content = bytes.extracting(packet.content)
        if let part = packet.fragment {
            guard packet.transport == IPPacket.tcp, let whole = fragments.take(packet, part, content, at: time) else {
                return
            }
            return tcp(whole.span, total: whole.count, packet, at: time)
        }
        guard packet.transport == IPPacket.tcp else { return }
        tcp(content, total: packet.length, packet, at: time)
    }

    private func tcp(_ bytes: Span<UInt8>, total: Int, _ packet: IPPacket, at time: UInt64) {
        guard let segment = TCPSegment(bytes, total: total) else { return output.report.cutHeaders += 1 }
        guard
            options.ports.isEmpty || options.ports.contains(segment.source)
                || options.ports.contains(segment.destination)
        else { return }
        table.take(
            segment, from: packet.source, to: packet.destination, bytes.extracting(segment.data), at: time)
    }
}

/// What of a capture is wanted.
package struct CaptureOptions: Sendable {
    /// Ports of servers; empty: all.
    package var ports: Set<UInt16> = []

    package init() {}
}
