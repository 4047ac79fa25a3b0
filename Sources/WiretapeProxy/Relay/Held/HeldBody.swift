internal import WiretapeCore

/// What becomes of a body that carries messages: a send, or the answer to a poll. It goes out whole, so what happens between
/// its messages happens to all of it.
struct HeldBody {
    var bytes: [UInt8] = []
    /// Nanoseconds that it waits.
    var wait: UInt64 = 0
    var effects: [FaultVerdict] = []
    var rule = ""
    /// Bytes of it that go out.
    var truncated: Int?
    var end: MessageFate.End?
    var lingering: UInt64 = 0

    var isEmpty: Bool { bytes.isEmpty }

    /// - Parameters:
    ///   - original: the body as it came.
    ///   - frame: makes a body of a message of ours.
    init(_ course: PayloadCourse, _ original: [UInt8], frame: ([UInt8]) -> [UInt8] = { $0 }) {
        for step in course.steps {
            switch step {
            case .wait(let gap): wait += gap
            case .original: bytes += original
            case .payload(let piece, _), .damaged(let piece, _, _), .reorder(let piece, _, _, _):
                bytes += frame(piece)
            case .truncated(let piece, _, let count):
                truncated = bytes.count + count
                bytes += frame(piece)
            case .effects(let verdicts, let hit):
                effects += verdicts
                rule = hit.name
            case .end(let end, let after):
                self.end = end
                lingering = after
            }
        }
    }
}
