import Synchronization

/// The hub over long polling: each poll is answered when the hub has something to say.
final class LongPolling: Transport {
    let texts: AsyncThrowingStream<String, any Error>
    private let hub: HubAddress
    private let target: String
    private let token: String?
    private let heard = Mutex(0)
    private let polling = Mutex<Task<Void, Never>?>(nil)

    /// The first poll is answered at once, and empty.
    static func open(_ hub: HubAddress, _ target: String, token: String?) async throws -> LongPolling {
        let answer = try await hub.request("GET", target, token: token)
        guard answer.status == 200 else { throw Refused(status: answer.status) }
        return LongPolling(hub, target, token)
    }

    private init(_ hub: HubAddress, _ target: String, _ token: String?) {
        (self.hub, self.target, self.token) = (hub, target, token)
        let (texts, told) = AsyncThrowingStream<String, any Error>.makeStream()
        self.texts = texts
        let task = Task { [weak self] in
            do {
                while !Task.isCancelled {
                    let answer = try await hub.request("GET", target, token: token)
                    self?.heard.withLock { $0 += 1 }
                    switch answer.status {
                    case 200: if !answer.body.isEmpty { told.yield(answer.body) }
                    case 204: throw Closed(code: 1000)
                    default: throw Refused(status: answer.status)
                    }
                }
                told.finish()
            } catch {
                told.finish(throwing: error)
            }
        }
        polling.withLock { $0 = task }
    }

    var signs: Int { heard.withLock { $0 } }

    func send(_ text: String) async throws {
        let answer = try await hub.request("POST", target, token: token, body: text)
        guard answer.status == 200 else { throw Refused(status: answer.status) }
    }

    /// Its polls are answered in time, or they break by themselves.
    func ping() async throws { heard.withLock { $0 += 1 } }

    func close() async {
        _ = try? await hub.request("DELETE", target, token: token)
        hangUp()
    }

    func hangUp() { polling.withLock { $0?.cancel() } }
}
