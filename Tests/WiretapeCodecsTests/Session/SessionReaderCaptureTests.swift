import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// Real sessions, captured independently of Wiretape.
@Suite struct SessionReaderCaptureTests {
    @Test(arguments: FixtureTape.signalR)
    func everyMessageIsRead(_ name: String) throws {
        let reading = try Reading(Codecs.all, FixtureTape(name).events)
        #expect(reading.messages.count > 15)
        #expect(reading.messages.allSatisfy { $0.codec == "signalr" && $0.message.role != .opaque })
        // The pieces of a frame make up its payload.
        let frames = Dictionary(grouping: reading.messages, by: \.event)
        for messages in frames.values {
            #expect(messages.flatMap(\.message.bytes) == messages[0].payload)
            #expect(Set(messages.map(\.frame)).count == 1)
        }
        // Whatever answers, ends or belongs to something knows what it was called.
        for message in reading.messages.map(\.message) where message.role != .ack {
            #expect((message.label != nil) == (message.content["invocationId"] != nil || message.type == "Invocation"))
        }
    }

    @Test func aspNetWithEveryFeature() throws {
        let sessions = try Reading(Codecs.all, FixtureTape("signalr/aspnet10-dotnet-ws-json").events).sessions
        #expect(sessions.count == 1)
        let session = sessions[0]
        #expect(session.route == "/hub" && session.transport == .ws && session.connections == [2])
        #expect(session.serverIDs == ServerIDs(connectionID: "EVGMetfZ6vaAJFMwtuxMwQ", token: "uqREdbwjwvxWS5zSfRAMfg"))
        #expect(session.negotiate?.request.target == "/hub/negotiate?user=ann&negotiateVersion=1")
        #expect(session.opening.request.target == "/hub?user=ann&id=uqREdbwjwvxWS5zSfRAMfg")
        let lines = session.lines
        #expect(lines.prefix(3) == ["> Handshake json 1", "< Handshake accepted", #"< Welcome("hello ann")"#])
        #expect(lines.contains(#"> AskBack("what is it?")"#))
        #expect(lines.contains(#"< ClientResult("what is it?")"#))
        #expect(lines.contains(#"> Completion s1 -> "answer to what is it?""#))
        #expect(lines.suffix(2) == ["< Completion 17 -> 15", "> Close"])
        #expect(!lines.contains { $0.contains("Ping") })
        let roles = session.entries.compactMap { entry -> Role? in
            if case .message(let message) = entry.what { message.role } else { nil }
        }
        for role: Role in [.handshake, .request, .send, .reply, .push, .part, .cancel, .close] {
            #expect(roles.contains(role))
        }
    }

    /// The same client and server as the JSON capture, in MessagePack: the conversation reads alike.
    @Test func messagePackWithEveryFeature() throws {
        let sessions = try Reading(Codecs.all, FixtureTape("signalr/aspnet10-js-ws-messagepack").events).sessions
        #expect(sessions.count == 1)
        let session = sessions[0]
        #expect(session.writer.transports == [.ws, .lp] && session.writer.obstacle == nil)
        let lines = session.lines
        #expect(lines.prefix(2) == ["> Handshake messagepack 1", "< Handshake accepted"])
        for line in [
            #"< Welcome("hello ann")"#, #"< Completion 0 -> "héllo 🌍 from js""#, "> counter(5, 20)",
            #"< Completion 2 -> {"Name":"Zoë","Age":42,"Tags":["a","b"],"Born":{"$time":"1984-02-29T00:00:00Z"},"Score":0.1}"#,
            #"< ClientResult("why?")"#, #"> Completion s1 -> "answer to why?""#, "> CancelInvocation 11",
            "> StreamItem 13 -> 5", "> Completion 13", "< Completion 14 -> 15", "< Completion 8", "> Close",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        let roles = Set(
            session.entries.compactMap { entry -> Role? in
                if case .message(let message) = entry.what { message.role } else { nil }
            })
        #expect(roles == [.handshake, .request, .send, .reply, .push, .part, .cancel, .close])
    }

    @Test func reconnectsAreSessionsOfTheirOwn() throws {
        let sessions = try Reading(Codecs.all, FixtureTape("signalr/signalr-js-ws-reconnect").events).sessions
        #expect(sessions.map(\.number) == [1, 2, 3])
        #expect(sessions.map(\.connections) == [[2], [4], [6]])
        #expect(Set(sessions.compactMap(\.serverIDs?.token)).count == 3)
        #expect(sessions.map { $0.lines.last } == ["< disconnect", "< disconnect", "> Close"])
        #expect(sessions.allSatisfy { $0.lines[0] == "> Handshake json 1" })
        #expect(sessions.map { $0.opened.map { $0 / 1_000_000_000 } } == [0, 4, 10])
    }

    @Test func skippedNegotiation() throws {
        let sessions = try Reading(Codecs.all, FixtureTape("signalr/aspnet10-js-abort-skip-negotiation").events)
            .sessions
        #expect(sessions.count == 2)
        #expect(sessions[0].negotiate == nil && sessions[0].serverIDs == nil && sessions[0].codec.id == "signalr")
        #expect(sessions[1].negotiate != nil)
        // A server abort: its Close, then its close frame.
        #expect(sessions.allSatisfy { $0.lines.suffix(2) == ["< Close", "< close 1000"] })
    }

    @Test func statefulReconnectStaysOneSession() throws {
        let sessions = try Reading(Codecs.all, FixtureTape("signalr/aspnet10-js-ws-stateful-reconnect").events).sessions
        #expect(sessions.count == 1)
        #expect(sessions[0].connections == [2, 3, 4])
        let lines = sessions[0].lines
        #expect(lines.filter { $0.contains("Handshake") }.count == 2)
        #expect(!lines.contains { $0.contains("Ack") || $0.contains("Sequence") })
        // The server counts its ticks: sent again, they are no entries.
        let ticks = lines.filter { $0.hasPrefix("< Tick(") }
        #expect(ticks.count > 10)
        #expect(Set(ticks).count == ticks.count)
    }

    @Test func withoutEntriesTheMessagesAreTheSame() throws {
        let events = try FixtureTape("signalr/signalr-swift-ws-json").events
        let with = Reading(Codecs.all, events)
        let without = Reading(Codecs.all, events, keepsEntries: false)
        #expect(with.messages == without.messages)
        #expect(without.sessions.map(\.entries.count) == [0])
    }
}
