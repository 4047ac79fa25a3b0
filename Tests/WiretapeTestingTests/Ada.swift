import ExampleChat
import Synchronization
import WiretapeTesting

/// How long tests wait for a client. The tests of a whole run share two threads, and a client of theirs may be far behind the clock.
let patience = Duration.seconds(300)

/// What is on `chat.tape.gz`, and who plays ada: the client of Examples/swift, which answers what bob says.
final class Ada: Sendable {
    static let answers = ["hi ada": "hello bob", "how are you?": "fine, thanks", "see you tomorrow": "bye"]
    static let chat = ["hi ada", "hello bob", "how are you?", "fine, thanks", "see you tomorrow", "bye", "bye"]

    let client: ChatClient
    private let told: Told
    private let running: Task<Void, any Error>

    init(_ url: String, says answers: [String: String] = Ada.answers, _ settings: ChatClient.Settings = Ada.quick) {
        let told = Told()
        let client = ChatClient(url: url, settings: settings) { who, text in
            told.texts.withLock { $0.append(text) }
            if who == "bob", text == "bye" { told.over.finish() }
            guard who == "bob", let answer = answers[text] else { return }
            told.say(answer)
        }
        told.client.withLock { $0 = client }
        self.told = told
        self.client = client
        running = Task {
            defer { told.over.finish() }
            try await client.run()
        }
    }

    var heard: [String] { told.texts.withLock { $0 } }

    /// Waits until bob's goodbye, the last thing on the tape, is heard, or the client has given up.
    func goodbye() async {
        for await _ in told.goodbye {}
    }

    /// Waits until the client gives up.
    func end() async throws { try await running.value }

    func stop() async {
        running.cancel()
        _ = await running.result
        told.client.withLock { $0 = nil }
    }

    static var quick: ChatClient.Settings {
        var settings = ChatClient.Settings()
        settings.delays = [.zero, .milliseconds(20), .milliseconds(100)]
        settings.ping = .seconds(30)
        return settings
    }

    private final class Told: Sendable {
        let texts = Mutex<[String]>([])
        let client = Mutex<ChatClient?>(nil)
        let (goodbye, over) = AsyncStream<Never>.makeStream()

        /// Beside what is heard: the hub acknowledges it later.
        func say(_ text: String) {
            guard let client = client.withLock({ $0 }) else { return }
            Task { try? await client.say("ada", text) }
        }
    }
}

/// Plays the whole chat.
/// - Returns: what ada heard.
func playChat(
    _ server: ReplayServer, says answers: [String: String] = Ada.answers, _ settings: ChatClient.Settings = Ada.quick
) async throws -> [String] {
    let ada = Ada(server.endpoint, says: answers, settings)
    do {
        // On a busy machine the client may not be let run for long: this limit is there for a client that never comes.
        try await server.finished(within: patience)
    } catch {
        await ada.stop()
        throw error
    }
    await ada.goodbye()
    await ada.stop()
    return ada.heard
}
