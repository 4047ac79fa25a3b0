internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeTape
internal import WiretapeWire

/// Edits a tape in two passes: ``look(_:)`` at every line finds the messages, ``change(_:)`` gives the lines anew. Lines
/// that are not concerned stay as they are, byte for byte. Memory: the messages that are meant.
package struct TapeEditor: Sendable {
    private let edit: TapeEdit
    private let codecs: [CodecEntry]
    private var reader: SessionReader?
    private var decoded: [DecodedMessage] = []
    private var counts: [Int: Int] = [:]
    private var frames: [Int: Frame] = [:]
    /// The messages that are meant, in order.
    package private(set) var matches: [TapeEdit.Match] = []
    /// Names of messages that are on the tape, for errors.
    package private(set) var names: [String] = []

    /// Later events of this take come so much later (or earlier), and so many events more (or fewer) were written.
    private var shift: Int64 = 0
    private var lastTime: UInt64 = 0
    private var moved: [(number: UInt64, by: Int)] = []

    /// A payload with messages that are meant.
    private struct Frame: Sendable {
        var codec: String
        var messages: [Message]
        var meant: [Int]
        /// They were read from bytes in a content coding.
        var isEncoded: Bool
    }

    package init(_ edit: TapeEdit, codecs: [CodecEntry]) {
        self.edit = edit
        self.codecs = codecs
    }

    // MARK: Pass 1

    package mutating func look(_ line: TapeLine) {
        switch line.what {
        case .header(let header): reader = SessionReader(codecs: codecs, header: header, keepsEntries: false)
        case .event(let event, let isUnframed):
            decoded.removeAll(keepingCapacity: true)
            reader?.read(event, number: line.number, line: line.line, isUnframed: isUnframed, into: &decoded)
            guard !decoded.isEmpty else { return }
            var meant: [Int] = []
            for (i, one) in decoded.enumerated() {
                for name in [one.message.label, one.message.type].compactMap(\.self)
                where names.count < 1_000 && !names.contains(name) { names.append(name) }
                if isMeant(one) { meant.append(i) }
            }
            guard !meant.isEmpty else { return }
            for i in meant {
                matches.append(
                    TapeEdit.Match(line: line.line, session: decoded[i].session, title: decoded[i].message.title))
            }
            frames[line.line] = Frame(
                codec: decoded[0].codec, messages: decoded.map(\.message), meant: meant,
                isEncoded: reader?.hasDecoded ?? false)
        case .comment, .bad: break
        }
    }

    private mutating func isMeant(_ one: DecodedMessage) -> Bool {
        guard edit.session?.contains(one.session) ?? true, edit.selector.matches(one.message) else { return false }
        guard let occurrence = edit.selector.occurrence else { return true }
        counts[one.session, default: 0] += 1
        return occurrence.contains(counts[one.session] ?? 0)
    }

    // MARK: Pass 2

    /// The lines that stand for this one. Lines come in the order of pass 1.
    package mutating func change(_ line: TapeLine) throws(TapeEdit.Fault) -> [TapeNewLine] {
        guard case .event(var event, _) = line.what else { return [TapeNewLine(line)] }
        var text = JSONText(line.bytes)
        var isDropped = false
        var behind: [TapeNewLine] = []
        let frame = frames[line.line]
        if frame != nil, let after = edit.after {
            let wanted = lastTime.addingReportingOverflow(after)
            shift = Int64(clamping: wanted.overflow ? .max : wanted.partialValue) - Int64(clamping: event.time)
            if text.range(at: "/t") == nil {
                try set("/after", Array(JSONValue.string(TapeEditor.spelled(after)).text.utf8), in: &text, line)
            }
        }
        move(&event, &text)
        if let frame {
            isDropped = try apply(frame, to: &text, event, line)
            behind = try inserted(like: frame, event, line)
        }
        adjust(&event, &text)
        let extra = behind.count - (isDropped ? 1 : 0)
        if extra != 0 { moved.append((line.number, extra)) }
        if case .take = event.kind { (shift, lastTime) = (0, 0) } else { lastTime = event.time }
        return (isDropped ? [] : [TapeNewLine(text.bytes, event)]) + behind
    }

    /// Moves the event in time, when those before it were moved.
    private func move(_ event: inout TapeEvent, _ text: inout JSONText) {
        if case .take = event.kind { return }
        guard shift != 0 else { return }
        event.time = TapeEditor.moved(event.time, by: shift)
        if let range = text.range(at: "/t"), !range.isEmpty { try? text.set("/t", to: Array("\(event.time)".utf8)) }
    }

    /// Numbers of events that were written before lines came or went.
    private func adjust(_ event: inout TapeEvent, _ text: inout JSONText) {
        guard !moved.isEmpty else { return }
        switch event.kind {
        case .stop(let events, let connections, let level):
            let now = TapeEditor.moved(events, by: Int64(moved.reduce(0) { $0 + $1.by }))
            event.kind = .stop(events: now, connections: connections, level: level)
            try? text.set("/events", to: Array("\(now)".utf8))
        case .fault(let rule, let action, let reference?, let delivered, let line):
            let by = moved.filter { $0.number < reference }.reduce(0) { $0 + $1.by }
            let now = TapeEditor.moved(reference, by: Int64(by))
            event.kind = .fault(rule: rule, action: action, reference: now, delivered: delivered, line: line)
            try? text.set("/ref", to: Array("\(now)".utf8))
        case .open, .request, .response, .chunk, .end, .message, .part, .ping, .pong, .close, .frame, .gone, .fault,
            .mark, .take, .gap, .missing, .unknown:
            break
        }
    }

    // MARK: Messages

    /// Changes the payload. True when nothing is left of the line.
    private func apply(
        _ frame: Frame, to text: inout JSONText, _ event: TapeEvent, _ line: TapeLine
    ) throws(TapeEdit.Fault) -> Bool {
        guard edit.drops || !edit.changes.isEmpty else { return false }
        if text.range(at: "/json") != nil {
            if edit.drops { return try drop(&text, event, "/json", line) }
            for change in edit.changes { try apply(change, to: &text, under: "/json", line) }
            return false
        }
        guard !frame.isEncoded else {
            throw fault(
                line, "'\(frame.messages[frame.meant[0]].title)' is in an encoded body; `wiretape canon` decodes it")
        }
        var payload: [UInt8] = []
        // The event that completed the message need not be the one that holds it.
        let own = TapeEditor.payload(of: event)
        var rest = own[...]
        for (i, message) in frame.messages.enumerated() {
            // What stands between the messages is kept (an event stream's own words).
            guard let place = TapeEditor.find(message.bytes, in: rest) else {
                throw fault(line, "'\(message.title)' came in several pieces; `wiretape canon` joins them")
            }
            payload += rest[..<place.lowerBound]
            rest = rest[place.upperBound...]
            if !frame.meant.contains(i) {
                payload += message.bytes
            } else if !edit.drops {
                payload += try changed(message, frame.codec, line)
            }
        }
        payload += rest
        let isNothing = edit.drops && frame.meant.count == frame.messages.count
        let key = text.range(at: "/b64") != nil ? "/b64" : "/text"
        if isNothing { return try drop(&text, event, key, line) }
        try write(payload, key, in: &text, event, line)
        return false
    }

    /// Takes some of the messages of an event out of its line.
    /// - Parameters:
    ///   - dropped: their indices in `messages`.
    ///   - isEncoded: they were read from bytes in a content coding.
    /// - Returns: whether nothing is left of the line.
    static func drop(
        _ dropped: [Int], of messages: [DecodedMessage], isEncoded: Bool, from text: inout JSONText, _ event: TapeEvent,
        _ line: TapeLine
    ) throws(TapeEdit.Fault) -> Bool {
        var edit = TapeEdit(Selector(.point(.message)))
        edit.drops = true
        let frame = Frame(
            codec: messages.first?.codec ?? "", messages: messages.map(\.message), meant: dropped, isEncoded: isEncoded)
        return try TapeEditor(edit, codecs: []).apply(frame, to: &text, event, line)
    }

    /// A WebSocket message goes with its line, a body leaves an exchange without one.
    private func drop(_ text: inout JSONText, _ event: TapeEvent, _ key: String, _ line: TapeLine) throws(TapeEdit
        .Fault)
        -> Bool
    {
        switch event.kind {
        case .message, .chunk: return true
        case .request, .response:
            do { try text.remove(key) } catch { throw fault(line, error.reason) }
            return false
        case .open, .end, .part, .ping, .pong, .close, .frame, .gone, .fault, .mark, .take, .gap, .missing, .stop,
            .unknown:
            throw fault(line, "the message came in several pieces; `wiretape canon` joins them")
        }
    }

    private func write(
        _ payload: [UInt8], _ key: String, in text: inout JSONText, _ event: TapeEvent, _ line: TapeLine
    ) throws(TapeEdit.Fault) {
        switch event.kind {
        case .message, .chunk, .request, .response: break
        case .open, .end, .part, .ping, .pong, .close, .frame, .gone, .fault, .mark, .take, .gap, .missing, .stop,
            .unknown:
            throw fault(line, "the message came in several pieces; `wiretape canon` joins them")
        }
        guard text.range(at: key) != nil else { throw fault(line, "the line has no payload of its own") }
        var value: [UInt8] = []
        if JSONEscape.appendString(payload.span, into: &value), key == "/text" {
            try set("/text", value, in: &text, line)
        } else {
            value = [UInt8(ascii: "\"")]
            Base64.append(payload.span, into: &value)
            value.append(UInt8(ascii: "\""))
            if key == "/text" { do { try text.remove("/text") } catch { throw fault(line, error.reason) } }
            try set("/b64", value, in: &text, line)
        }
        // The lengths of the fragments are those of the old payload.
        if text.range(at: "/frames") != nil {
            do { try text.remove("/frames") } catch { throw fault(line, error.reason) }
        }
    }

    /// The message with the changes.
    private func changed(_ message: Message, _ codec: String, _ line: TapeLine) throws(TapeEdit.Fault) -> [UInt8] {
        guard let type = codecs.first(where: { $0.id == codec })?.type else { return message.bytes }
        let frame = type.framed([])
        let inner =
            message.bytes.suffix(frame.count) == frame[...] ? message.bytes.dropLast(frame.count) : message.bytes[...]
        // A message whose content is not its text (data encoded twice) is changed by its content.
        if let value = try? JSONValue(parsing: Array(inner)), value.members != nil || value.array != nil,
            value == message.content || type.encode(message.content, like: message) == nil
        {
            var text = JSONText(Array(inner))
            for change in edit.changes { try apply(change, to: &text, under: "", line) }
            return text.bytes + message.bytes.suffix(message.bytes.count - inner.count)
        }
        var content = JSONText(Array(message.content.text.utf8))
        for change in edit.changes { try apply(change, to: &content, under: "", line) }
        guard message.role != .opaque, let value = try? JSONValue(parsing: content.bytes),
            let bytes = type.encode(value, like: message)
        else { throw fault(line, "'\(message.title)' cannot be written anew: it is not JSON") }
        return bytes
    }

    private func apply(
        _ change: TapeEdit.Change, to text: inout JSONText, under root: String, _ line: TapeLine
    ) throws(TapeEdit.Fault) {
        do throws(JSONText.Fault) {
            switch change {
            case .set(let pointer, let value): try text.set(root + pointer, to: Array(value.text.utf8))
            case .remove(let pointer): try text.remove(root + pointer)
            }
        } catch {
            throw fault(line, root.isEmpty ? error.reason : error.reason.replacing("'\(root)", with: "'"))
        }
    }

    // MARK: Further messages

    private func inserted(like frame: Frame, _ event: TapeEvent, _ line: TapeLine) throws(TapeEdit.Fault)
        -> [TapeNewLine]
    {
        guard !edit.inserts.isEmpty else { return [] }
        guard case .message(let direction, let opcode, _, _, _) = event.kind else {
            throw fault(line, "only messages of a WebSocket can be added: this one came over HTTP")
        }
        let type = codecs.first { $0.id == frame.codec }?.type
        guard let like = frame.messages.last else { return [] }
        return edit.inserts.map { value in
            var bytes: [UInt8] = []
            if let payload = type?.encode(value, like: like) {
                let kind = TapeEvent.Kind.message(direction, opcode, payload, deflated: false, fragments: [])
                TapeLines.append(TapeEvent(time: event.time, connection: event.connection, kind), into: &bytes)
                bytes.removeLast()
            } else {
                TapeLines.start(event.time, event.connection, #","e":"message""#, &bytes)
                TapeLines.direction(direction, &bytes)
                TapeLines.field("op", opcode.rawValue, &bytes)
                bytes.append(literal: #","json":"#)
                value.write(into: &bytes)
                bytes.append(UInt8(ascii: "}"))
            }
            return TapeNewLine(
                bytes,
                TapeEvent(
                    time: event.time, connection: event.connection,
                    .message(direction, opcode, [], deflated: false, fragments: [])))
        }
    }

    // MARK: Small things

    private func set(_ key: String, _ value: [UInt8], in text: inout JSONText, _ line: TapeLine) throws(TapeEdit.Fault)
    {
        do throws(JSONText.Fault) { try text.set(key, to: value) } catch { throw fault(line, error.reason) }
    }

    private func fault(_ line: TapeLine, _ reason: String) -> TapeEdit.Fault {
        TapeEdit.Fault(line: line.line, reason: reason)
    }

    private static func payload(of event: TapeEvent) -> [UInt8] {
        switch event.kind {
        case .message(_, _, let bytes, _, _), .chunk(_, _, let bytes): bytes
        case .request(_, _, .whole(let bytes)), .response(_, _, .whole(let bytes), _, _, _): bytes
        case .open, .request, .response, .end, .part, .ping, .pong, .close, .frame, .gone, .fault, .mark, .take, .gap,
            .missing, .stop, .unknown:
            []
        }
    }

    private static func find(_ bytes: [UInt8], in text: ArraySlice<UInt8>) -> Range<Int>? {
        guard let first = bytes.first else { return text.startIndex..<text.startIndex }
        var at = text.startIndex
        while let hit = text[at...].firstIndex(of: first) {
            guard hit + bytes.count <= text.endIndex else { return nil }
            if text[hit..<hit + bytes.count] == bytes[...] { return hit..<hit + bytes.count }
            at = hit + 1
        }
        return nil
    }

    /// A number of the tape, which can be any, and something more or less: never below 0, nor above the largest.
    static func moved(_ number: UInt64, by difference: Int64) -> UInt64 {
        let (moved, overflow) =
            difference < 0
            ? number.subtractingReportingOverflow(difference.magnitude)
            : number.addingReportingOverflow(difference.magnitude)
        guard overflow else { return moved }
        return difference < 0 ? 0 : .max
    }

    /// A duration as `after` has it, exactly.
    static func spelled(_ nanoseconds: UInt64) -> String {
        if nanoseconds % 1_000_000_000 == 0 { return "\(nanoseconds / 1_000_000_000)s" }
        if nanoseconds % 1_000_000 == 0 { return "\(nanoseconds / 1_000_000)ms" }
        return nanoseconds % 1_000 == 0 ? "\(nanoseconds / 1_000)us" : "\(nanoseconds)ns"
    }
}
