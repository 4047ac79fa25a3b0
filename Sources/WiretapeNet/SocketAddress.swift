internal import CWiretapeUV
internal import WiretapeRuntime

// Lifetime: pointers to addresses are good within the closure that gets them; the system copies what it is given.

/// A `sockaddr` of either family.
struct SocketAddress {
    private var storage = sockaddr_storage()

    init() {}

    /// Nil when the host is not a numeric address. An IPv6 host may carry a zone: `fe80::1%eth0`.
    init?(_ address: Address) {
        let rc = withMemory(of: sockaddr_in.self) { unsafe uv_ip4_addr(address.host, Int32(address.port), $0) }
        if rc == 0 { return }
        let rc6 = withMemory(of: sockaddr_in6.self) { unsafe uv_ip6_addr(address.host, Int32(address.port), $0) }
        if rc6 != 0 { return nil }
    }

    var family: Int32 { Int32(storage.ss_family) }

    var size: Int32 {
        Int32(family == AF_INET6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
    }

    static var capacity: Int32 { Int32(MemoryLayout<sockaddr_storage>.size) }

    @safe func withPointer<R>(_ body: (UnsafePointer<sockaddr>) -> R) -> R {
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
        }
    }

    @safe mutating func withMutablePointer<R>(_ body: (UnsafeMutablePointer<sockaddr>) -> R) -> R {
        withMemory(of: sockaddr.self) { unsafe body($0) }
    }

    @safe mutating func withStorage<R>(_ body: (UnsafeMutablePointer<sockaddr_storage>) -> R) -> R {
        unsafe withUnsafeMutablePointer(to: &storage) { unsafe body($0) }
    }

    @safe private mutating func withMemory<T, R>(of _: T.Type, _ body: (UnsafeMutablePointer<T>) -> R) -> R {
        unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: T.self, capacity: 1) { unsafe body($0) }
        }
    }

    /// The address as an ``Address``; an IPv4 address mapped into IPv6 is told as IPv4. Nil for other families.
    var address: Address? {
        withPointer { unsafe Address(sockaddr: $0) }
    }
}

extension Address {
    /// Nil for families other than IPv4 and IPv6.
    init?(sockaddr pointer: UnsafePointer<sockaddr>) {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let room = text.count
        switch unsafe Int32(pointer.pointee.sa_family) {
        case AF_INET:
            let port = unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { ip4 in
                _ = unsafe uv_ip4_name(ip4, &text, room)
                return unsafe UInt16(bigEndian: ip4.pointee.sin_port)
            }
            self.init(host: string(text), port: port)
        case AF_INET6:
            let (port, zone) = unsafe pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { ip6 in
                _ = unsafe uv_ip6_name(ip6, &text, room)
                return unsafe (UInt16(bigEndian: ip6.pointee.sin6_port), ip6.pointee.sin6_scope_id)
            }
            var host = string(text)
            if host.hasPrefix("::ffff:"), host.contains(".") { host.removeFirst(7) }
            if zone != 0 { host += "%\(zoneName(zone))" }
            self.init(host: host, port: port)
        default: return nil
        }
    }
}

private func string(_ text: [CChar]) -> String {
    String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

private func zoneName(_ zone: UInt32) -> String {
    var name = [CChar](repeating: 0, count: Int(UV_IF_NAMESIZE))
    var room = name.count
    return unsafe uv_if_indextoname(zone, &name, &room) == 0 ? string(name) : String(zone)
}
