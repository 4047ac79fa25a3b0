package import WiretapeCommandLine
package import WiretapeNet
package import WiretapeProxy
package import WiretapeRuntime

/// From what a person wrote behind `--listen` to an address, and back to a URL for clients.
package enum Listening {
    /// The first address of the host.
    /// - Throws: `Failure` in words when the name is not known.
    package static func address(_ origin: Origin, of option: String = "--listen", on loop: UVLoop) throws(Failure)
        -> Address
    {
        var found: Result<[Address], NetError>?
        loop.resolve(origin.host, port: origin.port) {
            found = $0
            loop.stop()
        }
        while found == nil { loop.run() }
        switch found {
        case .success(let addresses)?:
            if let first = addresses.first { return first }
            throw Failure("\(option) \(origin.text): '\(origin.host)' has no address")
        case .failure(let error)?: throw Failure("\(option) \(origin.text): \(error)")
        case nil: throw Failure("\(option) \(origin.text): not resolved")
        }
    }

    /// Where clients reach a listener: one on all interfaces is reached on this machine's own address.
    package static func url(_ address: Address, isTLS: Bool) -> String {
        var address = address
        if address.host == "0.0.0.0" { address.host = "127.0.0.1" }
        if address.host == "::" { address.host = "::1" }
        return "\(isTLS ? "https" : "http")://\(address)"
    }

    /// The hosts at which clients reach a listener: one on all interfaces has those of this machine as they are now.
    static func hosts(_ origin: Origin) -> [String] {
        isOnAll(origin) ? NetworkInterfaces.addresses() : [origin.host]
    }

    /// Where other machines reach a listener on all interfaces, which is at `url` on this one; else nothing.
    static func otherURLs(_ origin: Origin, _ url: String) -> [String] {
        guard isOnAll(origin), let own = try? Origin.parse(url) else { return [] }
        return hosts(origin).map { host in
            var other = own
            other.host = host
            return other.text
        }
    }

    private static func isOnAll(_ origin: Origin) -> Bool { origin.host == "0.0.0.0" || origin.host == "::" }

    /// As many clients as there are descriptors for, when all that is there before the first of them is open.
    /// - Parameter reserved: descriptors that others than clients may take.
    package static func limit(_ places: ClientPlaces, reserved: Int = 0) {
        let limit = ProcessSetup.descriptorLimit
        let room = ClientPlaces.room(
            descriptors: limit, ceiling: ProcessSetup.descriptorCeiling(limit),
            used: (ProcessSetup.nextDescriptor ?? limit) + reserved, perClient: places.perClient)
        places.limit(to: room, descriptors: limit)
    }

    /// The addresses of all listeners of a plan.
    package static func addresses(_ plan: RelayPlan, on loop: UVLoop) throws(Failure) -> [Address] {
        var addresses: [Address] = []
        for listen in plan.listens { addresses.append(try address(listen.origin, on: loop)) }
        return addresses
    }

    /// Finds out whether the addresses are free, without accepting anyone.
    package static func probe(_ addresses: [Address], on loop: UVLoop) throws(NetError) {
        for address in addresses where address.port != 0 {
            try loop.listen(on: address, reusePort: false) { _ in Unheard() }.close()
        }
    }

    /// The handler of a stream that nobody serves. The loop does not run while a probe listens: it is never told anything.
    private final class Unheard: StreamHandler {
        func connected() {}
        func received(_ bytes: Span<UInt8>) {}
        func receivedEnd() {}
        func drained() {}
        func ended(_ how: StreamEnd) {}
    }
}
