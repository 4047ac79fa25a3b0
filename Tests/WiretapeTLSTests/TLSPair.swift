import Testing
import WiretapeBytes
import WiretapeTLS

/// Two machines that talk to each other through memory.
struct TLSPair: ~Copyable {
    var client: TLSMachine
    var server: TLSMachine
    var toServer: [UInt8] = []
    var toClient: [UInt8] = []
    var clientHeard: [UInt8] = []
    var serverHeard: [UInt8] = []
    var clientFailure: TLSError?
    var serverFailure: TLSError?

    init(_ client: TLSContext, _ server: TLSContext, host: String) throws {
        let first = try TLSMachine(client, connectingTo: host)
        let second = try TLSMachine(accepting: server)
        self.client = first
        self.server = second
    }

    /// Carries bytes in pieces of `size` until both are silent.
    mutating func carry(pieces size: Int = .max) {
        while !toServer.isEmpty || !toClient.isEmpty {
            var bytes = toServer
            toServer = []
            for piece in Self.cut(bytes, size) where serverFailure == nil {
                do {
                    _ = try server.received(piece.span, plain: &serverHeard, reply: &toClient)
                } catch { serverFailure = error }
            }
            bytes = toClient
            toClient = []
            for piece in Self.cut(bytes, size) where clientFailure == nil {
                do {
                    _ = try client.received(piece.span, plain: &clientHeard, reply: &toServer)
                } catch { clientFailure = error }
            }
        }
    }

    mutating func shakeHands(pieces size: Int = .max) throws {
        try client.start(reply: &toServer)
        carry(pieces: size)
    }

    mutating func clientSays(_ bytes: [UInt8]) throws { try client.send(bytes.span, into: &toServer) }
    mutating func serverSays(_ bytes: [UInt8]) throws { try server.send(bytes.span, into: &toClient) }

    /// Bytes that cannot be compressed.
    static func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var draws = SplitMix64(seed: seed)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: draws.next()) }
    }

    static func cut(_ bytes: [UInt8], _ size: Int) -> [[UInt8]] {
        guard size < bytes.count else { return bytes.isEmpty ? [] : [bytes] }
        return stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    }
}

/// Certificates for tests, made once.
enum TestCertificates {
    static let authority = Result { try TLSIdentity.authority("Wiretape test authority") }
    static let stranger = Result { try TLSIdentity.authority("Another authority") }

    /// A client that trusts `authority` besides the system's.
    static func trusting(_ authority: TLSIdentity) throws -> TLSContext {
        let path = try TestFile.write(authority.certificatePEM)
        defer { TestFile.remove(path) }
        return try TLSContext(client: .systemAnd(file: path))
    }
}
