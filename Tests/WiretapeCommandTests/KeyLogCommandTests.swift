import Foundation
import Testing

/// `--keylog` with logs that are not what they should be.
@Suite(.waitsForPrograms) struct KeyLogCommandTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func run(keys: String, times: Int = 1) throws -> Binary.Run {
        try keys.write(toFile: scratch.path("keys.log"), atomically: true, encoding: .utf8)
        // A capture in which there is no packet.
        let header: [UInt8] = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]
        try Data(header).write(to: scratch.url.appendingPathComponent("none.pcap"))
        let logs = (0..<times).flatMap { _ in ["--keylog", scratch.path("keys.log")] }
        return try Binary.run(
            Binary.wiretape, ["import", scratch.path("none.pcap"), "-o", scratch.path("out.tape.gz")] + logs)
    }

    @Test func linesThatAreNoSecretsAreTold() throws {
        let many = try run(keys: "CLIENT_RANDOM 00 11\nCLIENT_RANDOM 00\nhello\n")
        #expect(many.err.contains("2 lines are no secret and left out, the first is line 2"), "\(many.err)")
        let one = try run(keys: "CLIENT_RANDOM 00 11\n# a comment\nCLIENT_RANDOM 00\n")
        #expect(one.err.contains("line 3 is no secret and left out"), "\(one.err)")
        let none = try run(keys: "CLIENT_RANDOM 00 11\n# a comment\n")
        #expect(!none.err.contains("no secret"), "\(none.err)")
    }

    /// As the client's log and the server's of one connection do.
    @Test func twoLogsMayHaveTheSameSecrets() throws {
        let both = try run(keys: "CLIENT_RANDOM 00 11\n", times: 2)
        #expect(!both.err.contains("no secret"), "\(both.err)")
        #expect(both.err.contains("there is no packet in it"), "\(both.err)")
    }

    @Test func aLogWithoutSecretsIsRefused() throws {
        let none = try run(keys: "# a comment\n")
        #expect(none.code == 1)
        #expect(none.err.contains("there is no secret in it"), "\(none.err)")
    }
}
