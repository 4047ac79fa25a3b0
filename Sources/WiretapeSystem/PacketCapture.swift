#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// Lifetime: the library stays open for the process; a handle is closed with its object. A packet is lent by libpcap until the next
// one is asked for, and is copied before that.

/// Packets of a network interface as they pass, through the system's libpcap. The library is opened when it is asked for: nobody
/// who does not capture needs it.
///
/// One thread at a time reads.
@safe package final class PacketCapture: @unchecked Sendable {
    /// Why packets cannot be had, as a sentence without its full stop.
    package struct Fault: Error {
        package enum Kind: Sendable { case noLibrary, noPermission, other }

        package var kind: Kind
        package var reason: String
    }

    /// A packet as it was captured.
    package struct Packet {
        /// Nanoseconds since 1970.
        package var time: UInt64
        /// Bytes that it had on the wire.
        package var length: Int
        package var bytes: [UInt8]
    }

    /// What the kernel has counted since the beginning.
    package struct Counters: Sendable, Equatable {
        package var received: UInt64
        /// For which the buffer had no room.
        package var dropped: UInt64
        package var droppedByInterface: UInt64
    }

    package enum Step {
        case packet(Packet)
        /// None has come for a while.
        case nothing
        case ended(String)
    }

    private typealias Handle = OpaquePointer
    private typealias ErrorText = UnsafePointer<CChar>

    /// The functions of libpcap that are used.
    @safe private struct Library {
        let create: @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<CChar>) -> Handle?
        let setNumber: [String: @convention(c) (Handle, Int32) -> Int32]
        let activate: @convention(c) (Handle) -> Int32
        let setNonBlocking: @convention(c) (Handle, Int32, UnsafeMutablePointer<CChar>) -> Int32
        let descriptor: @convention(c) (Handle) -> Int32
        let error: @convention(c) (Handle) -> ErrorText?
        let compile: @convention(c) (Handle, UnsafeMutableRawPointer, UnsafePointer<CChar>, Int32, UInt32) -> Int32
        let setFilter: @convention(c) (Handle, UnsafeMutableRawPointer) -> Int32
        let freeCode: @convention(c) (UnsafeMutableRawPointer) -> Void
        let next:
            @convention(c) (
                Handle, UnsafeMutablePointer<UnsafeMutableRawPointer?>, UnsafeMutablePointer<UnsafePointer<UInt8>?>
            ) -> Int32
        let stats: @convention(c) (Handle, UnsafeMutableRawPointer) -> Int32
        let link: @convention(c) (Handle) -> Int32
        let precision: @convention(c) (Handle) -> Int32
        let close: @convention(c) (Handle) -> Void
        let statusText: @convention(c) (Int32) -> ErrorText?
    }

    private static let names = ["libpcap.so.0.8", "libpcap.so.1", "libpcap.so", "libpcap.A.dylib"]
    private static let setters = [
        "pcap_set_snaplen", "pcap_set_promisc", "pcap_set_timeout", "pcap_set_buffer_size", "pcap_set_tstamp_precision",
    ]

    private static func library() throws(Fault) -> Library {
        var opened: UnsafeMutableRawPointer?
        for name in names where unsafe opened == nil { unsafe opened = dlopen(name, RTLD_NOW | RTLD_LOCAL) }
        guard let library = unsafe opened else {
            throw Fault(
                kind: .noLibrary,
                reason:
                    "libpcap is not on this machine, and live captures need it; install it (apt-get install libpcap0.8), or "
                    + "capture elsewhere and use 'wiretape import'")
        }
        func symbol<T>(_ name: String, _ type: T.Type) throws(Fault) -> T {
            guard let found = unsafe dlsym(library, name) else {
                throw Fault(kind: .noLibrary, reason: "this machine's libpcap is too old: it has no \(name)")
            }
            return unsafe unsafeBitCast(found, to: type)
        }
        var set: [String: @convention(c) (Handle, Int32) -> Int32] = unsafe [:]
        for name in setters { unsafe set[name] = try symbol(name, (@convention(c) (Handle, Int32) -> Int32).self) }
        return unsafe Library(
            create: try symbol(
                "pcap_create", (@convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<CChar>) -> Handle?).self),
            setNumber: set, activate: try symbol("pcap_activate", (@convention(c) (Handle) -> Int32).self),
            setNonBlocking: try symbol(
                "pcap_setnonblock", (@convention(c) (Handle, Int32, UnsafeMutablePointer<CChar>) -> Int32).self),
            descriptor: try symbol("pcap_get_selectable_fd", (@convention(c) (Handle) -> Int32).self),
            error: try symbol("pcap_geterr", (@convention(c) (Handle) -> ErrorText?).self),
            compile: try symbol(
                "pcap_compile",
                (@convention(c) (Handle, UnsafeMutableRawPointer, UnsafePointer<CChar>, Int32, UInt32) -> Int32).self),
            setFilter: try symbol("pcap_setfilter", (@convention(c) (Handle, UnsafeMutableRawPointer) -> Int32).self),
            freeCode: try symbol("pcap_freecode", (@convention(c) (UnsafeMutableRawPointer) -> Void).self),
            next: try symbol(
                "pcap_next_ex",
                (@convention(c) (
                    Handle, UnsafeMutablePointer<UnsafeMutableRawPointer?>, UnsafeMutablePointer<UnsafePointer<UInt8>?>
                ) -> Int32)
                .self),
            stats: try symbol("pcap_stats", (@convention(c) (Handle, UnsafeMutableRawPointer) -> Int32).self),
            link: try symbol("pcap_datalink", (@convention(c) (Handle) -> Int32).self),
            precision: try symbol("pcap_get_tstamp_precision", (@convention(c) (Handle) -> Int32).self),
            close: try symbol("pcap_close", (@convention(c) (Handle) -> Void).self),
            statusText: try symbol("pcap_statustostr", (@convention(c) (Int32) -> ErrorText?).self))
    }

    private let library: Library
    private let handle: Handle
    private let isNano: Bool
    /// What to wait on: libpcap itself waits for ever where nothing comes.
    private let descriptor: Int32
    /// The number of tcpdump.org's list.
    package let link: UInt32
    private var received = PacketCapture.none
    private static let none = Counters(received: 0, dropped: 0, droppedByInterface: 0)

    /// - Parameters:
    ///   - interface: `lo`, `eth0`, `any`.
    ///   - filter: an expression of pcap-filter(7); empty: everything.
    ///   - buffer: bytes that the kernel keeps for packets that were not read yet.
    package init(_ interface: String, filter: String, buffer: Int) throws(Fault) {
        let library = try PacketCapture.library()
        var text = [CChar](repeating: 0, count: 512)
        guard let handle = unsafe library.create(interface, &text) else {
            throw Fault(kind: .other, reason: PacketCapture.text(&text))
        }
        let numbers: [(String, Int32)] = [
            ("pcap_set_snaplen", 262_144), ("pcap_set_promisc", 0), ("pcap_set_timeout", 100),
            ("pcap_set_buffer_size", Int32(clamping: buffer)), ("pcap_set_tstamp_precision", 1),
        ]
        for (name, number) in numbers { _ = unsafe library.setNumber[name]?(handle, number) }
        let status = unsafe library.activate(handle)
        guard status >= 0 else {
            let reason = unsafe library.error(handle).map { unsafe String(cString: $0) } ?? ""
            let usual = unsafe library.statusText(status).map { unsafe String(cString: $0) } ?? "error \(status)"
            unsafe library.close(handle)
            // PCAP_ERROR_PERM_DENIED and PCAP_ERROR_PROMISC_PERM_DENIED
            let kind: Fault.Kind = status == -8 || status == -11 ? .noPermission : .other
            throw Fault(kind: kind, reason: "\(interface): \(usual)\(reason.isEmpty ? "" : " (\(reason))")")
        }
        if let fault = unsafe PacketCapture.set(filter, of: handle, library) {
            unsafe library.close(handle)
            throw fault
        }
        self.library = library
        unsafe self.handle = handle
        _ = unsafe library.setNonBlocking(handle, 1, &text)
        unsafe descriptor = library.descriptor(handle)
        unsafe link = UInt32(clamping: library.link(handle))
        unsafe isNano = library.precision(handle) == 1
    }

    deinit { unsafe library.close(handle) }

    private static func set(_ filter: String, of handle: Handle, _ library: Library) -> Fault? {
        guard !filter.isEmpty else { return nil }
        // struct bpf_program: a length and a pointer.
        let program = UnsafeMutableRawPointer.allocate(byteCount: 32, alignment: 8)
        defer { unsafe program.deallocate() }
        guard unsafe library.compile(handle, program, filter, 1, 0xffff_ffff) == 0 else {
            let reason = unsafe library.error(handle).map { unsafe String(cString: $0) } ?? "it cannot be compiled"
            return Fault(kind: .other, reason: "--filter '\(filter)': \(reason); see pcap-filter(7)")
        }
        defer { unsafe library.freeCode(program) }
        guard unsafe library.setFilter(handle, program) == 0 else {
            return Fault(kind: .other, reason: "--filter '\(filter)': the system does not take it")
        }
        return nil
    }

    private static func text(_ room: inout [CChar]) -> String {
        String(decoding: room.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The next packet, waiting 100 ms at most.
    package func next() -> Step {
        var head: UnsafeMutableRawPointer?
        var data: UnsafePointer<UInt8>?
        var outcome = unsafe library.next(handle, &head, &data)
        if outcome == 0 {
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&waited, 1, 100)
            outcome = unsafe library.next(handle, &head, &data)
        }
        switch outcome {
        case 1:
            guard let head = unsafe head, let data = unsafe data else { return .nothing }
            // struct pcap_pkthdr: a timeval and two lengths.
            let seconds = unsafe head.load(as: Int.self)
            let fraction = unsafe head.load(fromByteOffset: 8, as: Int.self)
            let kept = unsafe Int(head.load(fromByteOffset: 16, as: UInt32.self))
            let length = unsafe Int(head.load(fromByteOffset: 20, as: UInt32.self))
            let bytes = unsafe [UInt8](UnsafeBufferPointer(start: data, count: kept))
            let time = UInt64(max(0, seconds)) &* 1_000_000_000 &+ UInt64(max(0, fraction)) &* (isNano ? 1 : 1_000)
            return .packet(Packet(time: time, length: length, bytes: bytes))
        case 0: return .nothing
        default:
            return .ended(unsafe library.error(handle).map { unsafe String(cString: $0) } ?? "the interface is gone")
        }
    }

    package var counters: Counters {
        // struct pcap_stat: three numbers.
        var numbers: [UInt32] = [0, 0, 0, 0, 0, 0, 0, 0]
        let status = unsafe numbers.withUnsafeMutableBytes { room in
            unsafe room.baseAddress.map { unsafe library.stats(handle, $0) } ?? -1
        }
        guard status == 0 else { return received }
        received = Counters(
            received: UInt64(numbers[0]), dropped: UInt64(numbers[1]), droppedByInterface: UInt64(numbers[2]))
        return received
    }
}

extension ThisProcess {
    /// Gives up what opened the interface: under `sudo` the process becomes the user's who called it, and in any case it loses its
    /// capabilities. Call it before other threads begin.
    /// - Returns: what could not be given up, as a sentence; nil when all was.
    package static func dropPrivileges() -> String? {
        if geteuid() == 0, let user = environment("SUDO_UID").flatMap({ UInt32($0) }), user != 0 {
            let group = environment("SUDO_GID").flatMap { UInt32($0) } ?? user
            guard setgroups(0, nil) == 0, setgid(group) == 0, setuid(user) == 0 else {
                return "root's rights could not be given up: \(systemMessage(errno))"
            }
        }
        #if os(Linux)
            // capset(2) with nothing in its three sets; version 3 of its structure.
            guard let found = unsafe dlsym(nil, "capset") else { return "the system's library has no capset" }
            let capset = unsafe unsafeBitCast(
                found, to: (@convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer) -> Int32).self)
            var head: [UInt32] = [0x2008_0522, 0]
            let sets = [UInt32](repeating: 0, count: 6)
            let status = unsafe head.withUnsafeMutableBytes { head in
                unsafe sets.withUnsafeBytes { sets in unsafe capset(head.baseAddress!, sets.baseAddress!) }
            }
            if status != 0 { return "capabilities could not be given up: \(systemMessage(errno))" }
        #endif
        return nil
    }
}
