#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// Lifetime: the buffer is a local, lent for the call.

extension ThisProcess {
    /// Memory in use (resident set) in bytes, or nil where the system does not tell it. Takes some 20 µs.
    package static var residentSize: Int? {
        #if os(Linux)
            guard let file = try? File.reading("/proc/self/statm") else { return nil }
            var bytes: [UInt8] = []
            guard (try? file.read(at: 0, limit: 128, into: &bytes)) != nil else { return nil }
            // size resident shared …, in pages
            let fields = bytes.split(separator: UInt8(ascii: " "))
            guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return nil }
            return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        #else
            return nil
        #endif
    }

    /// The path of its program, for a child of the same kind.
    package static var executable: String {
        #if os(Linux)
            var room = [CChar](repeating: 0, count: 4_096)
            let count = unsafe readlink("/proc/self/exe", &room, room.count - 1)
            guard count > 0 else { return CommandLine.arguments.first ?? "wiretape" }
            return String(decoding: room[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
            return CommandLine.arguments.first ?? "wiretape"
        #endif
    }

    /// 64 bits of the system's randomness: the seed of a run that was given none.
    package static var randomSeed: UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}
