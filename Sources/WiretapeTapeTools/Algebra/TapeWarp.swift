internal import WiretapeBytes
internal import WiretapeProtocol
package import WiretapeTape
internal import WiretapeWire

/// Changes the times of a tape, in one pass: the gap before each event is scaled, then held between the shortest and the
/// longest. Events at one time stay together.
package struct TapeWarp: Sendable {
    package struct Choice: Sendable {
        package var scale = 1.0
        /// In nanoseconds. What happened at one time is not drawn apart.
        package var shortest: UInt64 = 0
        package var longest: UInt64 = .max

        package init() {}
    }

    private let choice: Choice
    private var oldTime: UInt64 = 0
    private var newTime: UInt64 = 0

    package init(_ choice: Choice) { self.choice = choice }

    /// How long the last take of the tape is now.
    package var duration: UInt64 { newTime }

    package mutating func change(_ line: TapeLine) throws(TapeEdit.Fault) -> [TapeNewLine] {
        guard case .event(var event, _) = line.what else { return [TapeNewLine(line)] }
        if case .take = event.kind {
            (oldTime, newTime) = (0, 0)
            return [TapeNewLine(line)]
        }
        let gap = event.time > oldTime ? event.time - oldTime : 0
        oldTime = max(oldTime, event.time)
        let wanted = warped(gap)
        let (sum, overflow) = newTime.addingReportingOverflow(wanted)
        let before = newTime
        newTime = overflow ? .max : sum
        guard newTime != event.time || wanted != gap else { return [TapeNewLine(line)] }
        event.time = newTime
        var text = JSONText(line.bytes)
        do throws(JSONText.Fault) {
            if text.range(at: "/t") != nil {
                try text.set("/t", to: Array("\(newTime)".utf8))
            } else if newTime > before || text.range(at: "/after") != nil {
                try text.set("/after", to: Array(JSONValue.string(TapeEditor.spelled(newTime - before)).text.utf8))
            }
        } catch {
            throw TapeEdit.Fault(line: line.line, reason: error.reason)
        }
        return [TapeNewLine(text.bytes, event)]
    }

    private func warped(_ gap: UInt64) -> UInt64 {
        guard gap > 0 else { return 0 }
        var new = gap
        if choice.scale != 1 {
            let scaled = (Double(gap) * choice.scale).rounded()
            new = scaled < 9e18 ? UInt64(max(0, scaled)) : UInt64(9e18)
        }
        return min(max(new, choice.shortest), choice.longest)
    }
}
