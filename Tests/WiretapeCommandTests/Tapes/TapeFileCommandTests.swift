import Foundation
import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape

/// What the commands do to files: one writer at a time, nobody else may read them, and a disk that is full.
@Suite(.waitsForPrograms) struct TapeFileCommandTests {
    let scratch: Scratch
    let hub: Running
    var client: String { Binary.folder.appendingPathComponent("sample-client").path }

    init() throws {
        scratch = try Scratch()
        hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
    }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    /// Events of a tape that can be read to its end, without the stop.
    private func events(_ path: String) throws -> (count: Int, isStopped: Bool) {
        var reader = try TapeReader(path: path)
        var count = 0
        while let next = try reader.next() {
            if case .stop = next.event.kind {} else { count += 1 }
        }
        let isTruncated = reader.isTruncated
        #expect(!isTruncated)
        return (count, reader.isStopped)
    }

    @Test func aTapeHasOneWriter() throws {
        let path = scratch.path("a.tape.gz")
        let recorder = try Running(
            "wiretape", ["record", "--upstream", hub.url, "-o", path, "--json"], in: scratch.url)
        let owner = "process \(recorder.process.processIdentifier) (wiretape) is writing it"
        let second = try Binary.run(
            "record", "--upstream", hub.url, "-o", path, "--force", "--", client, "{url}/chat", "--say", "no")
        #expect(second.code == 1 && second.verdict == "wiretape: failed (exit 1): \(path): \(owner)", "\(second.err)")
        let run = try Binary.run(URL(fileURLWithPath: client), [recorder.url + "/chat", "--say", "yes"])
        #expect(run.code == 0, "\(run.err)")
        // By now there is something that could be changed.
        while try Binary.run("inspect", path).out.contains("SendMessage") == false {}
        for words in [["canon", path], ["edit", path, "--where", "Welcome", "--drop"]] {
            let run = try Binary.run(Binary.wiretape, words)
            #expect(run.code == 1 && run.err.contains(owner), "\(words): \(run.err)")
        }
        #expect(try recorder.stop().code == 0)
        #expect(try events(path).isStopped)
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.url.path)
        #expect(left.allSatisfy { !$0.hasSuffix(".new") })
        #expect(try Binary.run("edit", path, "--where", "Welcome", "--drop").code == 0)
    }

    @Test func onlyTheOwnerMayReadWhatWasRecorded() throws {
        let path = scratch.path("a.tape.gz")
        let run = try Binary.run(
            "record", "--upstream", hub.url, "-o", path, "--expect", "rate(max=100/s)", "--report",
            scratch.path("r.json"), "--", client, "{url}/chat", "--say", "yes")
        #expect(FileManager.default.fileExists(atPath: path), "\(run.err)")
        #expect(try mode(path) == 0o600)
        #expect(try mode(scratch.path("r.json")) == 0o600)
    }

    /// What takes a tape's place has its permissions, and a link to the tape stays a link. Files that somebody has put where
    /// a new form could be written are neither followed nor changed.
    @Test(arguments: ["canon", "repair", "edit"]) func aTapeIsReplacedAsItWas(_ command: String) throws {
        let path = scratch.path("a.tape.gz")
        let whole = try Data(contentsOf: Binary.root.appendingPathComponent("recordings/chat.tape.gz"))
        try (command == "repair" ? whole.prefix(whole.count - 20) : whole).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let link = scratch.path("link.tape.gz")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let victim = scratch.path("victim")
        try "precious".write(toFile: victim, atomically: true, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: path + ".repairing", withDestinationPath: victim)
        let run = try Binary.run(
            Binary.wiretape, [command, link] + (command == "edit" ? ["--where", "ReceiveMessage[1]", "--drop"] : []))
        #expect(run.code == 0, "\(run.err)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) != whole)
        #expect(try mode(path) == 0o640)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
    }

    /// A file that may not grow beyond some blocks: the recording ends with a sentence, the tape opens, and what is told of
    /// it is true.
    @Test(arguments: ["stop", "continue"], ["a.tape", "a.tape.gz"])
    func aFileThatMayNotGrow(_ policy: String, _ name: String) throws {
        let path = scratch.path(name)
        // Of messages that do not compress, so that a few blocks are not enough for them.
        var random = SplitMix64(seed: 1)
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        var says = ""
        for _ in 0..<30 {
            let text = String((0..<600).map { _ in letters[Int(random.next() % 62)] })
            says += " --say " + text
        }
        let script =
            "ulimit -f 8; exec \(Binary.wiretape.path) record --upstream \(hub.url) --on-disk-full \(policy) -o \(path) -- "
            + "/bin/sh -c '\(client) {url}/chat \(says) >/dev/null 2>&1 || true'"
        let run = try Binary.run(URL(fileURLWithPath: "/bin/sh"), ["-c", script])
        #expect(run.code == 1, "\(run.err)")
        #expect(run.verdict.contains("cannot be written: File too large"), "\(run.err)")
        let found = try events(path)
        #expect(!found.isStopped)
        #expect(run.verdict.contains("; \(found.count) event"), "\(found.count): \(run.verdict)")
        #expect(run.verdict.contains(" not recorded"), "\(run.verdict)")
    }

    @Test(arguments: ["every-member", "stop", "off"]) func syncingChangesNothingOnTheTape(_ when: String) throws {
        let path = scratch.path("a.tape.gz")
        let run = try Binary.run(
            "record", "--upstream", hub.url, "-o", path, "--sync", when, "--", client, "{url}/chat", "--say", "yes")
        #expect(run.code == 0, "\(run.err)")
        let found = try events(path)
        #expect(found.isStopped && run.verdict.contains("done (exit 0): \(found.count) events of "), "\(run.verdict)")
    }
}
