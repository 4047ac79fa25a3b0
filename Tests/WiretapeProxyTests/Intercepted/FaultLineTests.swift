import Testing
import WiretapeRuntime
import WiretapeWire

/// What the tape says of a fault: when it is done, to which event, and how much of that was delivered.
@Suite struct FaultLineTests {
    /// The tape of a WebSocket (its `open` left out: event n stands at n - 2) whose server says `hello` three times, and its faults.
    private func record(
        _ rule: String, client: (FramePeer) -> Void = { _ in }
    ) throws -> (events: [JSONValue], faults: [JSONValue]) {
        let stage = try InterceptStage([rule])
        stage.onServer = { peer in
            peer.onOpen = { peer in for n in 1...3 { peer.say("hello \(n)") } }
        }
        let peer = stage.client()
        stage.run(200)
        client(peer)
        stage.run(2_000)
        peer.stream?.reset()
        let events = try stage.finish().map { try JSONValue(parsing: $0) }
        return (events, events.filter { $0["e"]?.string == "fault" })
    }

    private func number(_ value: JSONValue?) -> Int? { value.flatMap { Int($0.text) } }

    @Test(arguments: [
        ("reset after message[2]", 9), ("disconnect after message[2]", 9), ("close(1001) after message[2]", 9),
        ("reset on message[2]", 0), ("disconnect before message[2]", 0), ("drop on message[2]", 0),
        ("truncate(5) on message[2]", 5), ("truncate(5) + reset on message[2]", 5), ("truncate(50) on message[2]", 9),
        ("stall(both, 50ms) + reset after message[2]", 9), (#"replace("no") + reset on message[2]"#, 4),
    ])
    func delivered(_ rule: String, _ bytes: Int) throws {
        let (events, faults) = try record(rule)
        #expect(faults.count == 1, "\(faults.map(\.text))")
        let fault = try #require(faults.first)
        #expect(number(fault["delivered"]) == bytes, "\(fault.text)")
        let reference = try #require(number(fault["ref"]))
        #expect(events[reference - 2]["text"]?.string == "hello 2", "\(fault.text)")
    }

    @Test func whatIsDeliveredWholeNeedsNoNumber() throws {
        let (events, faults) = try record("delay(20ms) on message[2]")
        #expect(faults.count == 1 && faults[0]["delivered"] == nil)
        #expect(number(faults[0]["ref"]).map { events[$0 - 2]["text"]?.string } == "hello 2")
    }

    /// The fault is done when its message is acknowledged: what the client says meanwhile stands before it.
    @Test func theEventIsTheOneThatWasMeant() throws {
        let (events, faults) = try record("stall(out, 300ms) + reset after message[2]") { $0.say("meanwhile") }
        let fault = try #require(faults.first)
        let place = try #require(events.firstIndex(of: fault))
        #expect(events[..<place].contains { $0["text"]?.string == "meanwhile" })
        #expect(number(fault["ref"]).map { events[$0 - 2]["text"]?.string } == "hello 2")
    }
}
