/// A closing handshake of a tape that the client began: its close frame and what the server made of it.
package struct ClosingHandshake: Hashable, Sendable {
    /// What a close frame says; no code and no reason when it was empty.
    package struct Frame: Hashable, Sendable {
        package var code: UInt16?
        package var reason: String

        package init(code: UInt16?, reason: String) {
            self.code = code
            self.reason = reason
        }
    }

    package var asked: Frame
    /// A close frame, or the end of the connection without one.
    package var answer: RecordedSession.Ending

    package init(asked: Frame, answer: RecordedSession.Ending) {
        self.asked = asked
        self.answer = answer
    }

    /// Whether the server said what the client had said.
    package var isEcho: Bool { answer == .close(code: asked.code, reason: asked.reason) }
}

/// The closing handshakes of a session, one for each connection that its client closed.
package struct ClosingHandshakes: Hashable, Sendable {
    /// Different ones that are kept of one session.
    private static let limit = 64

    package private(set) var all: [ClosingHandshake] = []

    package init() {}

    package mutating func add(_ handshake: ClosingHandshake) {
        guard all.count < Self.limit, !all.contains(handshake) else { return }
        all.append(handshake)
    }

    /// What the recorded server answered to that frame. To one with another reason it is what it answered to that code,
    /// unless it may have repeated the reason. Nil: the tape does not tell.
    package func answer(to frame: ClosingHandshake.Frame) -> RecordedSession.Ending? {
        if let same = all.first(where: { $0.asked == frame }) { return same.answer }
        return all.first { $0.asked.code == frame.code && !$0.isEcho }?.answer
    }
}
