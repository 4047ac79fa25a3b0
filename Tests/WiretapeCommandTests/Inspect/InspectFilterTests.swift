import Testing
import WiretapeCommands
import WiretapeFaults
import WiretapeReport
internal import WiretapeTapeCommands

@Suite struct InspectFilterTests {
    private func shown(_ text: String) throws -> [String] {
        var filter = try InspectFilter(parsing: text)
        return InspectRun.rows(InspectRun.chat).filter { filter.shows($0) }.map(\.text)
    }

    @Test func labelsAndTypes() throws {
        #expect(try shown("Welcome") == ["Invocation Welcome(\"ada\")", "Invocation Welcome(\"ada\")"])
        #expect(try shown("Completion") == ["Completion 7 -> 42"])
        #expect(try shown("Add") == ["Invocation Add(20, 22)"])
        #expect(try shown("Nothing").isEmpty)
    }

    @Test func points() throws {
        #expect(try shown("handshake") == ["Handshake accepted", "Handshake accepted"])
        #expect(try shown("handshake[direction=toServer]") == ["Handshake json 1", "Handshake json 1"])
        #expect(try shown("negotiate").allSatisfy { $0.hasPrefix("POST /chat/negotiate") })
        #expect(try shown("negotiate").count == 2)
        #expect(try shown("upgrade").count == 2)
        #expect(try shown("request").count == 4)
        #expect(try shown("connect").count == 2)
    }

    @Test func conditions() throws {
        #expect(try shown("message[direction=toServer]") == ["Invocation Add(20, 22)"])
        #expect(try shown("message[/arguments/0=20.0]") == ["Invocation Add(20, 22)"])
        #expect(
            try shown("ReceiveMessage[/arguments/0=\"ada\"]") == ["Invocation ReceiveMessage(\"ada\", \"hi\")"])
        #expect(try shown("ReceiveMessage[/arguments/0=\"bob\"]").isEmpty)
    }

    @Test func ordinalsCountWithinASession() throws {
        #expect(try shown("Welcome[1]").count == 2)
        #expect(try shown("Welcome[2]").isEmpty)
        #expect(try shown("Ping[every 3]").count == 3)
        #expect(try shown("Ping[2..5]").count == 4)
    }

    @Test(arguments: ["", "Welcome[", "Welcome[0]", "message[direction=up]", "Welcome extra"])
    func whatIsNoSelectorIsRefused(_ text: String) {
        #expect(throws: PlanError.self) { try InspectFilter(parsing: text) }
    }
}
