internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReplay
internal import WiretapeWire

extension EngineMutant {
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
        switch fault {
        case .early:
            guard case .send(let c, let opcode, _, let ticket, _, _) = action else { return out.append(action) }
            out.append(action)
            guard let message = facts(c).waiting else { return }
            out.append(.send(c, opcode, message.bytes, ticket: ticket))
        case .twice:
            guard isPayload(action) else { return out.append(action) }
            out += [action, action]
        case .lost:
            guard isPayload(action) else { return out.append(action) }
        case .late:
            guard isPayload(action) else { return out.append(action) }
            delay(action)
        case .swapped:
            guard isPayload(action) else { return out.append(action) }
            held = action
        case .endsEarly:
            guard isPayload(action), let c = connection(action) else { return out.append(action) }
            out += [action, .disconnect(c)]
        case .neverEnds:
            guard isTapesEnd(action, facts) else { return out.append(action) }
        case .otherEnd:
            guard case .closeFrame(let c, _, let reason) = action, isTapesEnd(action, facts) else {
                return out.append(action)
            }
            out.append(.closeFrame(c, code: 4_711, reason: reason))
        case .silent:
            guard case .respond = action else { return out.append(action) }
        case .answersTwice:
            guard case .respond = action else { return out.append(action) }
            out += [action, action]
        case .spins, .restless:
            out.append(action)
            guard case .send = action else { return }
        case .resends, .forgets:
            guard case .send(let c, _, let bytes, _, _, _) = action, isPush(bytes) else { return out.append(action) }
            guard comesBack(action, facts(c), &out) else { return }
        case .ungreeted:
            guard case .send(let c, let opcode, let bytes, let ticket, _, _) = action, isPush(bytes),
                String(decoding: bytes, as: UTF8.self).contains("Welcome"), facts(c).generation > 1
            else { return out.append(action) }
            forgotten = (c, ticket)
            return out.append(.send(c, opcode, EngineMutant.ping, ticket: ticket))
        case .wrongID, .astray, .greetsTwice, .refuses, .madeUp, .miscounts:
            guard case .send(let c, let opcode, let bytes, let ticket, _, _) = action,
                let (to, other) = changed(bytes, to: c, facts)
            else { return out.append(action) }
            out.append(.send(to, opcode, other, ticket: ticket))
        case .deaf, .misreads: return out.append(action)
        }
        hasActed = true
    }

    /// The same payload said otherwise, or to somebody else; nil when it is left alone.
    private func changed(
        _ bytes: [UInt8], to c: ConnectionID, _ facts: (ConnectionID) -> Facts
    ) -> (ConnectionID, [UInt8])? {
        switch fault {
        case .wrongID: EngineMutant.misdirected(bytes).map { (c, $0) }
        case .madeUp where isPayload(bytes):
            ModelClient.altered(bytes) == bytes ? nil : (c, ModelClient.altered(bytes))
        case .astray where isPayload(bytes): facts(c).other.map { ($0, bytes) }
        case .greetsTwice where bytes == EngineMutant.greeting: (c, bytes + bytes)
        case .refuses: EngineMutant.refused(bytes).map { (c, $0) }
        case .miscounts: EngineMutant.miscounted(bytes).map { (c, $0) }
        case .early, .twice, .lost, .swapped, .late, .astray, .neverEnds, .otherEnd, .endsEarly, .silent,
            .answersTwice, .greetsTwice, .spins, .restless, .madeUp, .deaf, .resends, .forgets, .ungreeted,
            .misreads:
            nil
        }
    }

    /// A push on a client's second connection or later.
    /// - Returns: whether it is the occasion.
    private mutating func comesBack(_ action: ReplayAction, _ facts: Facts, _ out: inout [ReplayAction]) -> Bool {
        guard case .send(let c, let opcode, let bytes, let ticket, _, _) = action else { return false }
        defer { pushed[facts.client] = bytes }
        guard facts.generation > 1 else {
            out.append(action)
            return false
        }
        guard fault == .resends else {
            forgotten = (c, ticket)
            out.append(.send(c, opcode, EngineMutant.ping, ticket: ticket))
            return false
        }
        if let again = pushed[facts.client] { out.append(.send(c, opcode, again, ticket: ticket)) }
        out.append(action)
        return pushed[facts.client] != nil
    }

    // MARK: Payloads

    private static let greeting = Array("{}\u{1e}".utf8)
    private static let ping = Array("{\"type\":6}\u{1e}".utf8)

    /// One message of the script: not the protocol's own, and no handshake.
    private func isPayload(_ action: ReplayAction) -> Bool {
        guard case .send(_, _, let bytes, _, _, _) = action else { return false }
        return isPayload(bytes)
    }

    private func isPayload(_ bytes: [UInt8]) -> Bool { bytes.count > 12 && bytes.count { $0 == 0x1e } == 1 }

    /// One message that belongs to no call.
    private func isPush(_ bytes: [UInt8]) -> Bool {
        isPayload(bytes) && String(decoding: bytes, as: UTF8.self).hasPrefix(#"{"type":1,"target":"#)
    }

    private func connection(_ action: ReplayAction) -> ConnectionID? {
        if case .send(let c, _, _, _, _, _) = action { c } else { nil }
    }

    private func isTapesEnd(_ action: ReplayAction, _ facts: (ConnectionID) -> Facts) -> Bool {
        switch action {
        case .closeFrame(let c, _, _), .disconnect(let c), .reset(let c): facts(c).isTapesEnd
        case .respond, .beginStream, .piece, .endStream, .upgrade, .send, .raw, .limit, .pace, .hold, .stall, .mute,
            .awaitAcknowledged, .passThrough, .note, .log:
            false
        }
    }

    /// The same with another id, if it is the answer to a request.
    private static func misdirected(_ bytes: [UInt8]) -> [UInt8]? {
        member("invocationId", of: bytes, type: 3).map { place in
            Array(bytes[..<place.lowerBound]) + Array("\"nobody\"".utf8) + Array(bytes[place.upperBound...])
        }
    }

    /// What replay says to a call that is not on the tape.
    private static func refused(_ bytes: [UInt8]) -> [UInt8]? {
        member("invocationId", of: bytes, type: 3).map { place in
            Array(#"{"type":3,"invocationId":"#.utf8) + Array(bytes[place])
                + Array(#","error":"wiretape: not on the tape"}"#.utf8) + [0x1e]
        }
    }

    /// A Sequence or an Ack of a message that is far from being said.
    private static func miscounted(_ bytes: [UInt8]) -> [UInt8]? {
        guard let place = member("sequenceId", of: bytes, type: 9) ?? member("sequenceId", of: bytes, type: 8) else {
            return nil
        }
        return Array(bytes[..<place.lowerBound]) + Array("1000".utf8) + Array(bytes[place.lowerBound...])
    }

    /// Where the value of that member is in a message of that type.
    private static func member(_ name: String, of bytes: [UInt8], type: Int) -> Range<Int>? {
        guard String(decoding: bytes, as: UTF8.self).hasPrefix("{\"type\":\(type)") else { return nil }
        return JSONMembers(of: bytes).places.first { $0.name == name }?.value
    }
}
