import Chat
import Synchronization
import WiretapeTesting

/// Answers what bob says, through the client under test.
final class Ada: Sendable {
    static let answers = ["hi ada": "hello bob", "how are you?": "fine, thanks", "see you tomorrow": "bye"]
    static let chat = ["hi ada", "hello bob", "how are you?", "fine, thanks", "see you tomorrow", "bye", "bye"]

    private let told = Told()
    private let running: Task<Void, any Error>

    init(_ server: ReplayServer, _ settings: ChatClient.Settings? = nil) {
        let told = told
        let client = ChatClient(url: server.endpoint, settings: settings ?? Self.settings(server)) { who, text in
            told.texts.withLock { $0.append(text) }
            if who == "bob", text == "bye" { told.over.finish() }
            if who == "bob", let answer = Self.answers[text] { told.say(answer) }
        }
        told.client.withLock { $0 = client }
        running = Task {
            defer { told.over.finish() }
            try await client.run()
        }
    }

    /// A client that sleeps by the clock of the test.
    static func settings(_ server: ReplayServer) -> ChatClient.Settings {
        var settings = ChatClient.Settings()
        let clock = server.clock
        settings.ping = .seconds(10)
        settings.sleep = { try await clock.sleep(for: $0) }
        return settings
    }

    /// The whole chat, as it came.
    var heard: [String] { told.texts.withLock { $0 } }

    /// Waits until the client has shown bob's goodbye, the last thing on the tape, or has given up.
    func goodbye() async {
        for await _ in told.goodbye {}
    }

    /// Waits until the client gives up.
    func end() async throws {
        try await withTaskCancellationHandler {
            try await running.value
        } onCancel: {
            running.cancel()
        }
    }

    func stop() async {
        running.cancel()
        _ = await running.result
    }

    private final class Told: Sendable {
        let texts = Mutex<[String]>([])
        let client = Mutex<ChatClient?>(nil)
        let (goodbye, over) = AsyncStream<Never>.makeStream()

        /// Beside what is heard: the acknowledgement comes later.
        func say(_ text: String) {
            guard let client = client.withLock({ $0 }) else { return }
            Task { try? await client.say("ada", text) }
        }
    }
}
