import Testing
import WiretapeNet
import WiretapeRuntime

struct LookupTests {
    private func resolve(_ host: String, port: UInt16 = 80) throws -> Result<[Address], NetError> {
        var answer: Result<[Address], NetError>?
        try onLoop { loop in
            loop.resolve(host, port: port) {
                #expect(answer == nil)
                answer = $0
                loop.stop()
            }
            #expect(answer == nil, "not before the call returns")
        }
        return try #require(answer)
    }

    @Test(arguments: ["127.0.0.1", "::1", "10.1.2.3", "2001:db8::7"]) func numericHosts(host: String) throws {
        #expect(try resolve(host, port: 8080).get() == [Address(host: host, port: 8080)])
    }

    @Test(arguments: ["localhost", "LOCALHOST"]) func localhostIsIPv6First(host: String) throws {
        let addresses = try resolve(host).get()
        #expect(addresses.first == Address(host: "::1", port: 80))
        #expect(addresses.contains(Address(host: "127.0.0.1", port: 80)))
        #expect(Set(addresses).count == addresses.count)
    }

    @Test(arguments: ["", "no such host", "host.invalid"]) func unknownNames(host: String) throws {
        guard case .failure(let error) = try resolve(host) else {
            Issue.record("\(host) was found")
            return
        }
        #expect(error.call == "resolve \(host)")
        #expect(!error.reason.isEmpty)
    }

    @Test func aShutdownDropsTheAnswer() throws {
        let loop = try UVLoop()
        loop.resolve("localhost", port: 1) { _ in Issue.record("answered after the shutdown") }
        loop.resolve("127.0.0.1", port: 1) { _ in Issue.record("answered after the shutdown") }
        loop.shutdown()
        loop.run()
    }
}
