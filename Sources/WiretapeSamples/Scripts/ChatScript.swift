internal import WiretapeWire

/// A chat client's application: says its lines one after the other, each when the server has taken the one before, and says a
/// line again whose connection was lost before that.
package final class ChatScript {
    /// When the application has what it came for.
    package enum Goal: Hashable, Sendable {
        /// So many `ReceiveMessage`s have come and all lines are said.
        case messages(Int)
        /// Somebody else closes the connection for good.
        case closed
    }

    private let client: HubClient
    private let user: String
    private let goal: Goal
    private var lines: [String]
    private var received = 0
    private var isSaying = false
    private var isDone = false
    private let ended: (Bool) -> Void

    /// - Parameters:
    ///   - lines: nil for three lines of small talk.
    ///   - observe: told everything that the application sees.
    ///   - ended: once; whether the goal was reached.
    package init(
        _ client: HubClient, user: String, lines: [String]?, goal: Goal?,
        observe: @escaping (HubEvent) -> Void, ended: @escaping (Bool) -> Void
    ) {
        let lines = lines ?? ChatScript.smallTalk
        self.client = client
        self.user = user
        self.lines = lines
        self.goal = goal ?? .messages(lines.count)
        self.ended = ended
        client.observe = { [self] event in
            observe(event)
            see(event)
        }
    }

    package static let smallTalk = ["hello", "is anybody there?", "never mind"]

    private func see(_ event: HubEvent) {
        switch event {
        case .connected, .reconnected: say()
        case .invocation("ReceiveMessage", _):
            received += 1
            check()
        case .invocation, .lost, .retrying, .retryFailed: break
        case .closed: end(goal == .closed)
        }
    }

    private func say() {
        guard !isSaying, let line = lines.first else { return check() }
        isSaying = true
        client.invoke("SendMessage", [.string(user), .string(line)]) { [self] result in
            isSaying = false
            guard case .value = result else { return }
            lines.removeFirst()
            say()
        }
    }

    private func check() {
        guard case .messages(let wanted) = goal, received >= wanted, lines.isEmpty, !isDone else { return }
        isDone = true
        client.stop()
        ended(true)
    }

    private func end(_ reached: Bool) {
        // The circle of client and script ends here.
        client.observe = { _ in }
        guard !isDone else { return }
        isDone = true
        ended(reached)
    }
}
