package import WiretapeBytes
package import WiretapeProtocol

/// Gathers the lines of events and cuts them into members: at 1 MiB of lines (a longer line stands alone), and where the
/// caller flushes. Counts events and keeps time from going back. Memory: the lines that were not taken yet.
package struct MemberPacker: ~Copyable {
    /// What a member holds at most, unless a single line is longer.
    package static let memberSize = 1 << 20
    /// How long lines may wait for more of them, in nanoseconds.
    package static let patience: UInt64 = 250_000_000

    /// Monotonic time of the records that are being turned into lines; set it before lines are appended. The first line
    /// of a member takes it as the member's age.
    package var stamp: UInt64 = 0
    /// Events appended so far; the number of the last one.
    package private(set) var events: UInt64 = 0
    /// Connections opened so far.
    package private(set) var connections: UInt64 = 0
    /// What the members hold that were taken.
    package private(set) var taken = MemberTally()
    /// `t` of the last line.
    package private(set) var lastTime: UInt64 = 0
    /// ``stamp`` of the oldest line that was not taken; nil when all were.
    package var oldest: UInt64? { sealed.isEmpty ? openSince : (sealed.first?.stamp ?? openSince) }

    private var lines: [UInt8] = []
    /// Where the first member that was not taken begins.
    private var next = 0
    /// Where the open member begins.
    private var start = 0
    private var sealed: [Cut] = []
    private var info = MemberPacker.none
    private var openSince: UInt64?

    /// Takes the secrets out of events before lines are made of them; nil: events are written as they are.
    package var redaction: TapeRedaction?

    /// Takes members when too many wait.
    package var relief: MemberRelief?

    private struct Cut {
        var end: Int
        var info: MemberInfo
        var stamp: UInt64
    }

    private static let none = MemberInfo(events: 0, firstTime: .max, firstEvent: 0, opens: 0, firstConnection: 0)

    package init() {}

    /// The tape's first line, in a member with what follows.
    package mutating func appendHeader(_ header: TapeHeader) {
        let before = lines.count
        TapeLines.appendHeader(header, into: &lines)
        finishLine(from: before)
    }

    /// Cuts what is gathered, so that it can be taken. For the stop, and for lines that have waited for ``patience``.
    package mutating func flush() {
        guard lines.count > start else { return }
        sealed.append(Cut(end: lines.count, info: info, stamp: openSince ?? stamp))
        start = lines.count
        info = MemberPacker.none
        openSince = nil
        relieve()
    }

    /// Whether a member is whole, or the oldest line has waited long enough at `now`.
    package func isDue(at now: UInt64) -> Bool {
        if !sealed.isEmpty { return true }
        guard let openSince else { return false }
        return now >= openSince && now - openSince >= MemberPacker.patience
    }

    /// When the gathered lines have waited long enough; nil when there are none.
    package var dueAt: UInt64? {
        guard let oldest else { return nil }
        return sealed.isEmpty ? oldest + min(MemberPacker.patience, .max - oldest) : oldest
    }

    /// Bytes of lines not taken yet.
    package var pending: Int { lines.count - next }

    /// Bytes of lines in the next member to take; 0 when none is cut.
    package var nextSize: Int { sealed.first.map { $0.end - next } ?? 0 }

    /// Appends the next cut member, compressed, to `out`. False when none is cut.
    package mutating func takeMember(
        _ compressor: inout MemberCompressor, level: Int, into out: inout [UInt8]
    ) -> Bool {
        guard let cut = sealed.first else { return false }
        compressor.append(lines.span.extracting(next..<cut.end), info: cut.info, level: level, into: &out)
        drop(cut)
        return true
    }

    /// Appends the lines of the next cut member as they are. False when none is cut.
    package mutating func takePlain(into out: inout [UInt8]) -> Bool {
        guard let cut = sealed.first else { return false }
        out.append(copying: lines.span.extracting(next..<cut.end))
        drop(cut)
        return true
    }

    /// Lets go of all members when too many wait. Not of lines that are still open: they are not whole.
    private mutating func relieve() {
        guard let relief, !sealed.isEmpty, pending > MemberRelief.mostWaiting else { return }
        while let cut = sealed.first {
            relief.take(lines.span.extracting(next..<cut.end), cut.info)
            drop(cut)
        }
        guard next > 0 else { return }
        lines.removeFirst(next)
        start -= next
        next = 0
    }

    private mutating func drop(_ cut: Cut) {
        next = cut.end
        taken = taken + MemberTally(events: UInt64(cut.info.events), opens: UInt64(cut.info.opens))
        sealed.removeFirst()
        if next == lines.count {
            // The usual case. A buffer that a burst has blown up is let go.
            if lines.capacity > 8 * MemberPacker.memberSize {
                lines = []
            } else {
                lines.removeAll(keepingCapacity: true)
            }
        } else if next >= MemberPacker.memberSize {
            lines.removeSubrange(..<next)
        } else {
            return
        }
        for i in sealed.indices { sealed[i].end -= next }
        start -= next
        next = 0
    }

    // MARK: Lines

    /// The time that a line written now may carry: the larger of `time` and the last one.
    mutating func monotonic(_ time: UInt64) -> UInt64 {
        lastTime = max(lastTime, time)
        return lastTime
    }

    /// Writes a line with `write` and counts its event.
    @inline(__always)
    package mutating func event(
        _ time: UInt64, opens connection: UInt32? = nil, _ write: (UInt64, inout [UInt8]) -> Void
    ) {
        let before = lines.count
        write(monotonic(time), &lines)
        countLine(from: before, opens: connection)
    }

    /// A line as it was read, without its line feed. A comment or a header has no event and is not counted.
    package mutating func appendLine(_ line: Span<UInt8>, event: TapeEvent?) {
        let before = lines.count
        lines.append(copying: line)
        lines.append(0x0a)
        guard let event else {
            makeRoom(for: before)
            return finishLine(from: before)
        }
        lastTime = event.time
        var opened: UInt32?
        if case .open = event.kind { opened = event.connection }
        countLine(from: before, opens: opened)
    }

    private mutating func countLine(from before: Int, opens connection: UInt32?) {
        makeRoom(for: before)
        events += 1
        if info.events == 0 {
            info.firstTime = lastTime
            info.firstEvent = events
        }
        info.events += 1
        if let connection {
            connections += 1
            if info.opens == 0 { info.firstConnection = connection }
            info.opens += 1
        }
        finishLine(from: before)
    }

    /// Cuts before the line that begins at `before` when the member would become too long with it.
    private mutating func makeRoom(for before: Int) {
        guard lines.count - start > MemberPacker.memberSize, before > start else { return }
        sealed.append(Cut(end: before, info: info, stamp: openSince ?? stamp))
        start = before
        info = MemberPacker.none
        openSince = nil
        // Relieved when the line at hand is whole.
    }

    private mutating func finishLine(from before: Int) {
        if openSince == nil { openSince = stamp }
        if lines.count - start >= MemberPacker.memberSize {
            flush()
        } else if !sealed.isEmpty {
            relieve()
        }
    }
}
