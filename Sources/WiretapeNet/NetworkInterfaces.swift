internal import CWiretapeUV
internal import WiretapeRuntime

// Lifetime: libuv's list is read and freed within one call.

/// The network interfaces of this machine.
package enum NetworkInterfaces {
    /// The addresses at which other machines may reach this one, without ports: those that are up, without loopback and without
    /// IPv6 addresses of one link only, which mean nothing without its name. Empty when the system does not tell.
    package static func addresses() -> [String] {
        var list: UnsafeMutablePointer<uv_interface_address_t>?
        var count: Int32 = 0
        guard unsafe uv_interface_addresses(&list, &count) == 0, let all = unsafe list else { return [] }
        defer { unsafe uv_free_interface_addresses(all, count) }
        var found: [String] = []
        for i in 0..<Int(count) where unsafe all[i].is_internal == 0 {
            let address = unsafe withUnsafePointer(to: &all[i].address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe Address(sockaddr: $0) }
            }
            guard let address, !address.host.lowercased().hasPrefix("fe80:"), !found.contains(address.host) else {
                continue
            }
            found.append(address.host)
        }
        return found
    }
}
