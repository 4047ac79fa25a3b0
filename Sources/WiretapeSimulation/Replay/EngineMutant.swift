internal import WiretapeCore

/// An engine broken on purpose: stands between the engine and the stage, and does one thing wrong. Whatever holds the
/// engine to its rules must see it.
package struct EngineMutant: Sendable {
    package enum Fault: String, Sendable, CaseIterable {
        /// A push goes out before what it waits for has come.
        case early
        /// An answer goes to an id that did not ask.
        case wrongID
        /// A message goes out twice.
        case twice
        /// A message does not go out at all.
        case lost
        /// A message goes out after the one that follows it.
        case swapped
        /// A message goes out a millisecond late.
        case late
        /// The connection is not ended where the tape ends it.
        case neverEnds
        /// The connection is ended with a code of its own.
        case otherEnd
        /// A request is answered twice.
        case answersTwice
        /// Wants to be woken again and again.
        case spins
        /// A message says something that is on no tape.
        case madeUp
        /// A message of the client is not heard.
        case deaf
    }

    package let fault: Fault
    /// It has had the occasion.
    package private(set) var hasActed = false
    private var held: ReplayAction?

    package init(_ fault: Fault) { self.fault = fault }

    var isSpinning: Bool { fault == .spins && hasActed }

    /// Whether the engine does not get that message of the client.
    mutating func swallows(_ sayings: [Saying], _ lines: (Saying) -> Conversation.Line?) -> Bool {
        guard fault == .deaf, !hasActed else { return false }
        hasActed = sayings.contains { lines($0)?.role == .request || lines($0)?.role == .send }
        return hasActed
    }

    /// What the mutant knows of a connection.
    struct Facts {
        /// A push that still waits for the client.
        var waiting: Message?
        /// An end of the connection would be the tape's.
        var isTapesEnd: Bool
    }

    /// - Parameter delay: takes what goes out a millisecond later.
    /// - Returns: what is done instead.
    mutating func tampered(
        _ actions: [ReplayAction], facts: (ConnectionID) -> Facts, delay: (ReplayAction) -> Void
    ) -> [ReplayAction] {
        var out: [ReplayAction] = []
        for action in actions {
            if let held, isPayload(action), connection(action) == connection(held) {
                self.held = nil
                out += [action, held]
                continue
            }
            guard !hasActed else {
                if fault == .neverEnds, isTapesEnd(action, facts) { continue }
                out.append(action)
                continue
            }
            tamper(action, facts, delay, &out)
        }
        return out
    }

    private mutating func tamper(
        _ action: ReplayAction, _ facts: (ConnectionID) -> Facts, _ delay: (ReplayAction) -> Void,
        _ out: inout [ReplayAction]
    ) {
        switch (fault, action) {
        case (.early, .send(let c, let opcode, _, let ticket)):
            out.append(action)
            guard let message = facts(c).waiting else { return }
            out.append(.send(c, opcode, message.bytes, ticket: ticket))
        case (.wrongID, .send(let c, let opcode, let bytes, let ticket)):
            guard let other = EngineMutant.misdirected(bytes) else { return out.append(action) }
            out.append(.send(c, opcode, other, ticket: ticket))
        case (.madeUp, .send(let c, let opcode, let bytes, let ticket)) where isPayload(action):
            let other = ModelClient.altered(bytes)
            guard other != bytes else { return out.append(action) }
            out.append(.send(c, opcode, other, ticket: ticket))
        case (.twice, .send) where isPayload(action): out += [action, action]
        case (.lost, .send) where isPayload(action): break
        case (.late, .send) where isPayload(action): delay(action)
        case (.swapped, .send) where isPayload(action): held = action
        case (.neverEnds, _) where isTapesEnd(action, facts): break
        case (.otherEnd, .closeFrame(let c, _, let reason)) where isTapesEnd(action, facts):
            out.append(.closeFrame(c, code: 4_711, reason: reason))
        case (.answersTwice, .respond): out += [action, action]
        case (.spins, .send): out.append(action)
        default: return out.append(action)
        }
        hasActed = true
    }

    /// One message of the script: not the protocol's own, and no handshake.
    private func isPayload(_ action: ReplayAction) -> Bool {
        guard case .send(_, _, let bytes, _) = action else { return false }
        return bytes.count > 12 && bytes.count { $0 == 0x1e } == 1
    }

    private func connection(_ action: ReplayAction) -> ConnectionID? {
        if case .send(let c, _, _, _) = action { c } else { nil }
    }

    private func isTapesEnd(_ action: ReplayAction, _ facts: (ConnectionID) -> Facts) -> Bool {
        switch action {
        case .closeFrame(let c, _, _), .disconnect(let c), .reset(let c): facts(c).isTapesEnd
        default: false
        }
    }

    /// The same with another id, if it is the answer to a request.
    private static func misdirected(_ bytes: [UInt8]) -> [UInt8]? {
        guard String(decoding: bytes, as: UTF8.self).hasPrefix("{\"type\":3"),
            let place = JSONMembers(of: bytes).places.first(where: { $0.name == "invocationId" })
        else { return nil }
        return Array(bytes[..<place.value.lowerBound]) + Array("\"nobody\"".utf8)
            + Array(bytes[place.value.upperBound...])
    }
}
