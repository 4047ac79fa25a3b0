import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A TCP connection with blocking calls. One thread reads, others may write and hang up.
final class Socket: Sendable {
    private let descriptor: Int32

    /// Connects to a numeric address.
    init(host: String, port: UInt16) throws {
        #if canImport(Glibc)
            let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let made = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard made >= 0 else { throw ConnectionLost("no socket") }
        // From here on `deinit` closes it, also when this initialiser throws.
        descriptor = made
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host, &address.sin_addr) == 1 else {
            throw ConnectionLost("\(host) is no numeric address")
        }
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            throw ConnectionLost("\(host):\(port): \(String(cString: strerror(errno)))")
        }
    }

    /// A descriptor that is closed twice may be another's by then.
    deinit { precondition(close(descriptor) == 0 || errno != EBADF, "the socket was closed before") }

    /// What has come: 1 byte at least, and none when the other side has ended.
    func read() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw ConnectionLost(String(cString: strerror(errno))) }
        return Array(buffer[..<count])
    }

    func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            #if canImport(Darwin)
                let flags: Int32 = 0
            #else
                let flags = Int32(MSG_NOSIGNAL)
            #endif
            let count = bytes[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { throw ConnectionLost(String(cString: strerror(errno))) }
            sent += count
        }
    }

    /// Ends both directions. Whoever reads is woken.
    func hangUp() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
}

/// The connection broke, or never came to be.
public struct ConnectionLost: Error, CustomStringConvertible {
    public var description: String
    init(_ description: String) { self.description = description }
}

/// Runs blocking calls on a thread of their own: the tasks' threads are few.
///
/// The result is left under a lock, and the continuation only says that it is there: on Linux the thread sanitizer does not see what a
/// continuation carries that is resumed before its task has begun to wait.
func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    let left = Left<T>()
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            left.leave(Result(catching: body))
            continuation.resume()
        }
    }
    return try left.take()
}

private final class Left<T: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var result: Result<T, any Error>?

    func leave(_ result: Result<T, any Error>) { lock.withLock { self.result = result } }

    func take() throws -> T {
        guard let result = lock.withLock({ result }) else { preconditionFailure("resumed without a result") }
        return try result.get()
    }
}
