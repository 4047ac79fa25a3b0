internal import WiretapeAttempts
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeReplay
internal import WiretapeReplayServer
internal import WiretapeSystem
internal import WiretapeWire

extension ReplayServer {
    /// Holds what clients have done so far to policies, and what they do until the end of the test. What is not met, or could not
    /// be judged, is an issue at the line of the call; nothing is thrown.
    ///
    /// `single` and `resubscribes` with names speak of what is noted only where they are known from the beginning: give those to the server
    /// when it is made (``Options/expect``).
    public func expect(
        _ policies: Policy..., fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
        column: Int = #column
    ) {
        if isRecording { return }
        let place = CallPlace(fileID, filePath, line, column)
        for policy in policies {
            do {
                let expectation = try policy.parsed()
                let reasons = try ask { hosted -> [String]? in
                    let verdicts = hosted.server.consult { engine, now, _ in engine.expect(expectation, at: now) } ?? []
                    if verdicts.isEmpty { return nil }
                    return verdicts.filter { !$0.met }.map { hosted.server.masked($0.reason) }
                }
                guard let reasons else {
                    sink.record(
                        "wiretape: \(policy.text) has to be known before the first client comes: give it to the server when it is "
                            + "made, as in .tape(\"\(tape.name)\", expect: [\"\(policy.text)\"])", at: place)
                    continue
                }
                expected.withLock { $0.append((expectation.text, place, !reasons.isEmpty)) }
                for reason in reasons { sink.record(reason, at: place) }
            } catch {
                sink.record("wiretape: \(error)", at: place)
            }
        }
    }

    /// Holds what the app under test was given to what the server said: everything, and nothing twice. What is lost or doubled is an
    /// issue at the line of the call.
    ///
    /// The place of the ids in the messages is found by looking for the ids of `events` in what was said; where they stand in several
    /// places, that with most of them counts. `label` and `pointer` say it instead.
    /// - Parameters:
    ///   - events: what the app has delivered, in any order.
    ///   - id: tells events apart; compared with numbers and texts in messages by its description.
    ///   - label: the messages that bring them: `ReceiveMessage`.
    ///   - pointer: where in those the id stands, a JSON Pointer: `/arguments/0/id`.
    public func expectDelivered<Event, ID: Hashable>(
        _ events: [Event], by id: (Event) -> ID, label: String? = nil, at pointer: String? = nil,
        fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: Int = #column
    ) {
        if isRecording { return }
        let place = CallPlace(fileID, filePath, line, column)
        let delivered = events.map { "\(id($0))" }
        guard
            let said = try? ask({ hosted in
                hosted.seen.filter { $0.message.direction == .toClient && $0.message.role == .push }.map(\.message)
            })
        else { return sink.record("wiretape: \(Self.hasStopped)", at: place) }
        var messages = said
        // What was lost on its way, by a rule or with its connection, stands on the tape.
        for session in sessions where session.isFinished {
            guard let recorded = tape.sessions.first(where: { $0.number == session.number }) else { continue }
            for case .message(let message) in recorded.whole.entries.map(\.what)
            where message.direction == .toClient && message.role == .push {
                messages.append(message)
            }
        }
        guard let spot = DeliverySpot.find(of: Set(delivered), in: messages, label: label, pointer: pointer) else {
            return sink.record(
                "wiretape: delivered(\(delivered.count) events) could not be judged: no message to the client has their ids; "
                    + "say where they stand: expectDelivered(events, by: …, label: \"ReceiveMessage\", at: \"/arguments/0\")",
                at: place)
        }
        var owed: [String] = []
        for message in messages {
            guard let id = spot.id(in: message), !owed.contains(id) else { continue }
            owed.append(id)
        }
        let counts = Dictionary(delivered.map { ($0, 1) }, uniquingKeysWith: +)
        let lost = owed.filter { counts[$0] == nil }
        let twice = counts.filter { $0.value > 1 }.map(\.key).sorted()
        if !lost.isEmpty {
            sink.record(
                "wiretape: delivered(\(spot)) is not met: \(Self.listed(lost)) never reached the app", at: place)
        }
        if !twice.isEmpty {
            sink.record(
                "wiretape: delivered(\(spot)) is not met: \(Self.listed(twice)) reached the app more than once",
                at: place)
        }
    }

    private static func listed(_ ids: [String]) -> String {
        let rest = ids.count > 8 ? " and \(ids.count - 8) more" : ""
        return ids.prefix(8).map { "'\($0)'" }.joined(separator: ", ") + rest
    }
}

/// Where in messages the ids of events stand.
struct DeliverySpot: Hashable, CustomStringConvertible {
    var label: String
    var pointer: String

    var description: String { "\(label) \(pointer)" }

    func id(in message: Message) -> String? {
        guard message.isCalled(label) else { return nil }
        return message.content.value(at: pointer).flatMap(Self.text)
    }

    static func find(of ids: Set<String>, in messages: [Message], label: String?, pointer: String?) -> DeliverySpot? {
        if let label, let pointer { return DeliverySpot(label: label, pointer: pointer) }
        var found: [DeliverySpot: Set<String>] = [:]
        for message in messages {
            let name = message.label ?? message.type
            if let label, !message.isCalled(label) { continue }
            scan(message.content, "") { place, text in
                guard ids.contains(text), pointer == nil || pointer == place else { return }
                found[DeliverySpot(label: label ?? name, pointer: place), default: []].insert(text)
            }
        }
        return found.max { ($0.value.count, $1.key.description) < ($1.value.count, $0.key.description) }?.key
    }

    private static func scan(_ value: JSONValue, _ place: String, _ take: (String, String) -> Void) {
        switch value {
        case .array(let items): for (i, item) in items.enumerated() { scan(item, "\(place)/\(i)", take) }
        case .object(let members):
            for member in members {
                let name = member.name.replacing("~", with: "~0").replacing("/", with: "~1")
                scan(member.value, "\(place)/\(name)", take)
            }
        case .null, .bool, .number, .string: if let text = text(value) { take(place, text) }
        }
    }

    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text), .number(let text): text
        case .null, .bool, .array, .object: nil
        }
    }
}
