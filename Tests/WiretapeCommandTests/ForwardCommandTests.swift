import Foundation
import Testing

/// `--mode forward` as a process: what a command behind it finds, and what people are told.
@Suite(.waitsForPrograms) struct ForwardCommandTests {
    let scratch: Scratch
    private var folder: String { scratch.path("ca") }
    private var tape: String { scratch.path("forward.tape") }
    /// Prints what the host says, over the proxy of the environment.
    private let ask =
        "import os, urllib.request as r; print(r.urlopen(os.environ['HUB'] + '/', timeout=20).read().decode().strip())"

    init() throws { scratch = try Scratch() }

    private func run(_ words: [String], hub: String, command: [String]) throws -> Binary.Run {
        try Binary.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["HUB=\(hub)", Binary.wiretape.path] + words + ["--ca-dir", folder, "--"] + command)
    }

    @Test func aCommandFindsTheProxyAndIsPlayedToWithoutTheHost() throws {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        let words = ["--mode", "forward"]
        let recorded = try run(
            ["record", "--output", tape] + words, hub: hub.url, command: ["python3", "-c", ask])
        #expect(recorded.code == 0, "\(recorded.err)")
        #expect(recorded.out == "wiretape's sample hub\n")
        let around = try run(
            ["proxy"] + words + ["--bypass", "*.example.com"], hub: hub.url,
            command: [
                "/bin/sh", "-c",
                "echo $http_proxy $HTTPS_PROXY $all_proxy $wss_proxy $no_proxy $WIRETAPE_URL $WIRETAPE_CA",
            ])
        let found = around.out.split(whereSeparator: { $0 == " " || $0 == "\n" }).map(String.init)
        try #require(found.count == 7, "\(around.out)")
        #expect(Set(found[0..<4] + [found[5]]).count == 1 && found[0].hasPrefix("http://127.0.0.1:"))
        #expect(found[4] == ".example.com" && found[6] == "\(folder)/ca.pem")
        let url = hub.url
        _ = try hub.stop()
        let played = try run(["replay", tape] + words, hub: url, command: ["python3", "-c", ask])
        #expect(played.code == 0, "\(played.err)")
        #expect(played.out == recorded.out)
        // What the tape does not have is asked of nobody.
        let other = try run(
            ["replay", tape] + words, hub: "http://127.0.0.1:9", command: ["python3", "-c", ask])
        #expect(other.code == 1 && other.err.contains("at upstream '127.0.0.1:9' for GET /"), "\(other.err)")
    }

    @Test func aProxyForOtherMachinesIsSaidLoudly() throws {
        let open = try run(
            ["proxy", "--mode", "forward", "--listen", "0.0.0.0:0"], hub: "", command: ["/bin/true"])
        #expect(open.err.contains("other machines may use the proxy"), "\(open.err)")
        let own = try run(["proxy", "--mode", "forward"], hub: "", command: ["/bin/true"])
        #expect(!own.err.contains("other machines"), "\(own.err)")
    }

    @Test(arguments: [
        (["proxy"], "a server is needed to stand in front of: --upstream URL, or --mode forward"),
        (["proxy", "--mode", "forward", "--upstream", "http://a"], "in forward mode clients name the hosts"),
        (
            ["replay", "a.tape", "--mode", "forward", "--upstream", "http://a"],
            "in forward mode clients name the hosts"
        ),
        (
            ["proxy", "--upstream", "http://a", "--only", "b", "--lead-back", "off"],
            "with --lead-back off no host is led back"
        ),
        (["proxy", "--mode", "forward", "--lead-back", "off"], "clients of a proxy come back by themselves"),
        (["proxy", "--upstream", "http://a", "--lead-back", "off", "--lead-back", "/x:/y"], "'off' stands alone"),
        (["proxy", "--mode", "forward", "--bypass", "http://a"], "is no host"),
        (["proxy", "--mode", "forward", "--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0"], "has one listener"),
        (["proxy", "--mode", "sideways"], "sideways"),
        (["proxy", "--mode", "transparent", "--upstream", "http://a"], "in transparent mode connections say"),
        (["proxy", "--mode", "transparent", "--only", "b"], "the rule that redirects chooses"),
        (["proxy", "--mode", "transparent", "--tls"], "each client's first byte tells TLS from plain"),
        (["proxy", "--mode", "transparent", "--threads", "2"], "has one loop"),
        (["proxy", "--mode", "forward", "--upstream-cert", "a.pem"], "each of them could ask for it"),
        (["proxy", "--upstream", "http://a", "--upstream-key", "a.key"], "--upstream-key needs --upstream-cert"),
        (["proxy", "--upstream", "http://a", "--client-ca", "a.pem"], "--client-ca: no listener speaks TLS"),
        (["proxy", "--upstream", "http://a", "--tls", "--client-auth", "optional"], "--client-auth needs --client-ca"),
        (["proxy", "--upstream", "http://a", "--fault", "alert on tls"], "no listener speaks TLS"),
        (
            ["proxy", "--upstream", "http://a", "--tls", "--cert", "a.pem", "--fault", "certificate(expired) on tls"],
            "needs an authority that issues it"
        ),
    ])
    func mistakesAreUsageErrors(_ words: [String], _ text: String) throws {
        let run = try Binary.run(Binary.wiretape, words)
        #expect(run.code == 64)
        #expect(run.verdict.contains(text), "\(run.verdict)")
    }
}
