import Foundation
import Testing
import WiretapeControl
import WiretapeWire

/// The web page behind `GET /`: what is served, to whom, and what a browser may do with it. `tools/acceptance/page` has it in a browser.
@Suite(.timeLimit(.minutes(3))) struct PageTests {
    private static let folder = Stage.root.appendingPathComponent("Sources/WiretapeControl/Page")

    /// The page's own files, without what it brings from elsewhere.
    private static var own: [(path: String, text: String)] {
        PageResources.files.filter { !$0.path.hasPrefix("vendor/") }
    }

    @Test func theProgramHasTheFilesOfTheFolder() throws {
        // The folder within is no file.
        let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.folder.path).filter { $0 != "vendor" }
        #expect(paths.sorted() == PageResources.files.map(\.path).sorted())
        for file in PageResources.files {
            let there = try String(contentsOf: Self.folder.appendingPathComponent(file.path), encoding: .utf8)
            #expect(there == file.text, "\(file.path)")
        }
    }

    @Test func thePageNeedsNoTokenAndAllElseDoes() async throws {
        let stage = try Stage(token: "open-sesame-1")
        let api = stage.api
        #expect(try await api.get("/").status == 200)
        for path in ["main.js", "uplot.js", "page.css", "icon.svg", "licences.txt"] {
            #expect(try await api.get("/page/\(path)").status == 200, "\(path)")
        }
        for operation in ControlOperation.allCases {
            let path = operation.path.replacing("{id}", with: "1").replacing("{name}", with: "x").replacing(
                "{file}", with: "main.js")
            let isOpen = path == "/" || path.hasPrefix("/page/") || path == "/healthz"
            let answer = try await api.call(operation.method, path)
            #expect((answer.status == 401) == !isOpen, "\(operation.method) \(path): \(answer.status)")
            #expect(operation.isOpen == isOpen)
        }
        // No other site reads it, and no name that was made to lead here.
        let foreign = try await api.call("GET", "/", headers: [HeaderField("Origin", "https://example.com")])
        #expect(foreign.status == 403)
        let bytes = Array("GET / HTTP/1.1\r\nHost: evil.example.com\r\nConnection: close\r\n\r\n".utf8)
        #expect(try APIClient.parse(try await api.send(bytes)).status == 403)
        try await stage.stop()
    }

    @Test func nothingButItsOwnFilesMayRun() async throws {
        let stage = try Stage()
        let api = stage.api
        let page = try await api.get("/")
        #expect(page.headers.first("Content-Type") == "text/html; charset=utf-8")
        let policy = try #require(page.headers.first("Content-Security-Policy"))
        for part in [
            "default-src 'none'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
            "form-action 'none'", "require-trusted-types-for 'script'",
        ] { #expect(policy.contains(part), "\(part)") }
        #expect(!policy.contains("unsafe") && !policy.contains("http:") && !policy.contains("*"))
        for (name, value) in [
            ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
        ] { #expect(page.headers.first(name) == value) }
        let script = try await api.get("/page/main.js")
        #expect(script.headers.first("Content-Type") == "text/javascript; charset=utf-8")
        #expect(script.headers.first("X-Content-Type-Options") == "nosniff")
        #expect(try await api.get("/page/none.js").status == 404)
        #expect(try await api.get("/page/index.html").status == 404)
        #expect(try await api.get("/page/..%2Fmain.js").status == 404)
        let head = try await api.call("HEAD", "/")
        #expect(head.status == 200 && head.body.isEmpty)
        try await stage.stop()
    }

    /// Whatever a file of the page names is there, and none names another place.
    @Test func whatThePageNamesIsServed() async throws {
        let stage = try Stage()
        let index = try await stage.api.get("/").text
        var names: Set<String> = []
        for match in index.matches(of: #/page\/([a-z.-]+)/#) { names.insert(String(match.1)) }
        #expect(names.isSuperset(of: ["main.js", "preact.js", "signals-core.js", "uplot.css"]))
        for file in Self.own where file.path.hasSuffix(".js") {
            for match in file.text.matches(of: #/from "([^"]+)"/#) {
                let name = String(match.1)
                if name.hasPrefix("./") {
                    names.insert(String(name.dropFirst(2)))
                } else {
                    #expect(index.contains("\"\(name)\":"))
                }
            }
        }
        for name in names { #expect(try await stage.api.get("/page/\(name)").status == 200, "\(name)") }
        for file in Self.own where file.path != "icon.svg" {
            for word in [
                "http://", "https://", "innerHTML", "outerHTML", "dangerouslySet", "eval(", "new Function",
                "document.write", " style=\"",
            ] {
                #expect(!file.text.contains(word), "\(file.path) has \(word)")
            }
        }
        let licences = try await stage.api.get("/page/licences.txt").text
        for word in ["Apache License", "The MIT License", "Jason Miller", "Leon Sorokin", "preact", "uplot"] {
            #expect(licences.contains(word), "\(word)")
        }
        try await stage.stop()
    }
}
