import ExampleChat
import Foundation
import Synchronization
import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeControl
import WiretapeFaults
import WiretapeNet
import WiretapeProtocol
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeRuntime
import WiretapeTape
import WiretapeWire

/// A replay of `recordings/chat.tape.gz` under control, on a loop and sockets of its own.
final class Stage: Sendable {
    /// What lives on the loop.
    final class Residents {
        let replay: ReplayService
        let control: ControlServer
        var subscribers: [Subscriber] = []

        init(_ replay: ReplayService, _ control: ControlServer) {
            self.replay = replay
            self.control = control
        }
    }

    let thread: LoopThread
    let api: APIClient
    let url: String

    init(
        _ options: ReplayOptions = Stage.options(), faults: String? = nil, keeping: Int = 16 << 20,
        token: String? = nil,
        mostConnections: Int = 2_048
    ) throws {
        let thread = LoopThread(name: "control-test")
        try thread.start()
        let (replay, control) = try thread.call { loop -> (Address, Address) in
            let path = Stage.root.appendingPathComponent("recordings/chat.tape.gz").path
            var reader = try TapeReader(path: path)
            var decoder = SessionReader(codecs: Codecs.all, header: reader.header)
            var messages: [DecodedMessage] = []
            while let next = try reader.next() {
                decoder.read(
                    next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
            }
            let sessions = decoder.finish()
            let plan = try faults.map { try FaultPlan(json: Array($0.utf8), file: "test") } ?? FaultPlan()
            var engine = ReplayEngine(
                sessions: sessions, tapeName: "chat.tape.gz", options: options, faults: plan, seed: 7)
            engine.tellsTape = true
            let server = ReplayService(
                loop, driver: engine, timeScale: options.clock.scale, hasManualClock: options.clock.isManual)
            let journal = RunJournal(codecs: Codecs.all, keeping: keeping)
            let address = try server.listen(on: Address(host: "127.0.0.1", port: 0))
            let url = "http://\(address)"
            let place: [JSONValue.Member] = [
                .init("url", .string(url)), .init("urls", .object([.init("main", .string(url))])),
                .init("endpoint", .string(url + "/hub")), .init("ws", .string("ws" + url.dropFirst(4) + "/hub")),
                .init("control", .null), .init("proxy", .null), .init("pid", .number(1)), .init("seed", .number(7)),
            ]
            let run = ControlledReplay(server, on: loop, journal: journal, place: place) { (sessions, "chat.tape.gz") }
            server.observe = { event in
                journal.passed(event)
                run.noticed()
            }
            server.news = { journal.happened($0) }
            let api = ControlServer(
                loop, access: try ControlAccess(hosts: [], token: token), mostConnections: mostConnections)
            api.add(run)
            journal.ready(place)
            let control = try api.listen(on: Address(host: "127.0.0.1", port: 0))
            loop.residents.append(Residents(server, api))
            return (address, control)
        }
        self.thread = thread
        url = "http://\(replay)/hub"
        api = APIClient(thread: thread, address: control)
    }

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static func options(_ change: (inout ReplayOptions) -> Void = { _ in }) -> ReplayOptions {
        var options = ReplayOptions()
        options.speed = .instant
        options.ending.allowsUnplayed = true
        change(&options)
        return options
    }

    func with<T: Sendable>(_ body: @escaping @Sendable (Residents, UVLoop) throws -> T) throws -> T {
        try thread.call { loop in
            for one in loop.residents { if let residents = one as? Residents { return try body(residents, loop) } }
            throw NetError("residents", code: 0, reason: "none")
        }
    }

    /// Ends the replay and the API.
    func stop() async throws {
        try await handedOver { give in
            thread.post { loop in
                guard let residents = loop.residents.lazy.compactMap({ $0 as? Residents }).first else {
                    return give(.success(()))
                }
                residents.replay.stop { residents.control.stop { give(.success(())) } }
            }
        }
    }

    deinit { thread.stop() }

    /// Asks again until it is so.
    func until(_ what: String, _ isSo: @escaping @Sendable (Residents) -> Bool) async throws {
        for _ in 0..<1_000 {
            if try with({ residents, _ in isSo(residents) }) { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("not within 10 s: \(what)")
    }
}

/// Plays ada: says `hi ada`'s answers as they stand on the tape.
final class Ada: Sendable {
    private static let answers = ["hi ada": "hello bob", "how are you?": "fine, thanks", "see you tomorrow": "bye"]
    let heard = Mutex<[String]>([])
    private let client: Mutex<ChatClient?>
    private let running: Mutex<Task<Void, any Error>?>

    init(_ url: String) {
        client = Mutex(nil)
        running = Mutex(nil)
        var settings = ChatClient.Settings()
        settings.delays = [.zero, .milliseconds(20), .milliseconds(100)]
        settings.ping = .seconds(30)
        let chat = ChatClient(url: url, settings: settings) { [weak self] who, text in
            guard let self else { return }
            heard.withLock { $0.append(text) }
            guard who == "bob", let answer = Ada.answers[text], let chat = client.withLock({ $0 }) else { return }
            Task { try? await chat.say("ada", answer) }
        }
        client.withLock { $0 = chat }
        running.withLock { $0 = Task { try await chat.run() } }
    }

    func stop() async {
        let task = running.withLock { $0 }
        task?.cancel()
        _ = await task?.result
        client.withLock { $0 = nil }
    }
}
