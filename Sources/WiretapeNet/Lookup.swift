internal import CWiretapeUV
internal import WiretapeRuntime

// Lifetime: a lookup is retained while libuv works on it and released by its only callback, which frees the list of
// addresses as well. The request's memory belongs to the lookup.

/// One `getaddrinfo` on libuv's threads. libuv owns a reference until the answer.
@safe final class Lookup {
    typealias Done = (Result<[Address], NetError>) -> Void
    private let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
    private let loop: UVLoop
    private let host: String
    private let port: UInt16
    private let done: Done

    static func start(_ loop: UVLoop, host: String, port: UInt16, _ done: @escaping Done) {
        let lookup = Lookup(loop, host, port, done)
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = wiretape_sock_stream()
        let me = unsafe Unmanaged.passRetained(lookup)
        unsafe lookup.request.pointee.data = me.toOpaque()
        let rc = unsafe uv_getaddrinfo(
            loop.raw, lookup.request,
            { request, status, found in
                let lookup = unsafe Unmanaged<Lookup>.fromOpaque(request!.pointee.data).takeRetainedValue()
                let addresses = unsafe lookup.addresses(found)
                unsafe uv_freeaddrinfo(found)
                lookup.answered(status, addresses)
            }, host, nil, &hints)
        if rc == 0 {
            loop.openLookups += 1
        } else {
            unsafe me.release()
            loop.soon { done(.failure(NetError("resolve \(host)", status: rc))) }
        }
    }

    private init(_ loop: UVLoop, _ host: String, _ port: UInt16, _ done: @escaping Done) {
        self.loop = loop
        self.host = host
        self.port = port
        self.done = done
    }

    deinit { unsafe request.deallocate() }

    private func answered(_ status: Int32, _ addresses: [Address]) {
        loop.openLookups -= 1
        guard !loop.isShutDown else { return }
        if status != 0 {
            done(.failure(NetError("resolve \(host)", status: status)))
        } else if addresses.isEmpty {
            done(.failure(NetError("resolve \(host)", status: UV_EAI_NODATA.rawValue)))
        } else {
            done(.success(Self.isLocal(host) ? Self.localFirst(addresses, port) : addresses))
        }
    }

    /// In the system's order, each once.
    private func addresses(_ list: UnsafeMutablePointer<addrinfo>?) -> [Address] {
        var result: [Address] = []
        var next = unsafe list
        while let entry = unsafe next {
            unsafe next = unsafe entry.pointee.ai_next
            guard let name = unsafe entry.pointee.ai_addr, var address = unsafe Address(sockaddr: name) else {
                continue
            }
            address.port = port
            if !result.contains(address) { result.append(address) }
        }
        return result
    }

    private static func isLocal(_ host: String) -> Bool {
        var name = host.lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// Many systems name only 127.0.0.1 for `localhost`, and many servers listen on `::1` alone.
    private static func localFirst(_ addresses: [Address], _ port: UInt16) -> [Address] {
        let local = Address(host: "::1", port: port)
        return [local] + addresses.filter { $0 != local && $0.host.contains(":") }
            + addresses.filter { !$0.host.contains(":") }
    }
}
