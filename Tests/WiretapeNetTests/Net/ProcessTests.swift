import Foundation
import Testing
import WiretapeNet
import WiretapeRuntime
import WiretapeSystem

struct ProcessTests {
    private func end(of arguments: [String], environment: [(name: String, value: String)] = []) throws -> ChildEnd {
        var result: ChildEnd?
        try onLoop { loop in
            let child = try ChildProcess(loop, arguments, environment: environment) {
                result = $0
                loop.stop()
            }
            #expect(child.processID > 0)
        }
        return try #require(result)
    }

    @Test(arguments: [0, 1, 3, 255] as [Int32]) func exitCodes(code: Int32) throws {
        let end = try end(of: ["sh", "-c", "exit \(code)"])
        #expect(end == .exited(code))
        #expect(end.exitCode == code)
    }

    @Test func signals() throws {
        let end = try end(of: ["sh", "-c", "kill -TERM $$"])
        #expect(end == .signalled(SIGTERM))
        #expect(end.exitCode == 143)
    }

    @Test func theChildSeesItsEnvironment() throws {
        let script = #"[ "$WIRETAPE_URL" = "http://x" ] && [ -n "$PATH" ] && [ "$HOME" = "/elsewhere" ]"#
        let end = try end(
            of: ["sh", "-c", script], environment: [("WIRETAPE_URL", "http://x"), ("HOME", "/elsewhere")])
        #expect(end == .exited(0))
    }

    @Test func aChildCanBeEnded() throws {
        try onLoop { loop in
            let child = try ChildProcess(loop, ["sleep", "60"]) {
                #expect($0 == .signalled(SIGINT))
                loop.stop()
            }
            loop.after(20) { child.signal(SIGINT) }
        }
    }

    /// We ignore SIGPIPE; what we start must not: `yes | head` would never end.
    @Test func aChildDiesOfSIGPIPE() throws {
        let end = try end(of: ["sh", "-c", "sh -c 'kill -PIPE $$; exit 3'; test $? -gt 128"])
        #expect(end == .exited(0))
    }

    @Test func noSuchProgram() throws {
        try onLoop { loop in
            let error = #expect(throws: NetError.self) {
                _ = try ChildProcess(loop, ["wiretape-no-such-program"]) { _ in }
            }
            #expect(error?.description == "start wiretape-no-such-program: no such file or directory")
            #expect(throws: NetError.self) { _ = try ChildProcess(loop, []) { _ in } }
            loop.after(5) { loop.stop() }
        }
    }

    @Test func aSignalOfOurOwn() throws {
        var seen: [Int32] = []
        try onLoop { loop in
            let watcher = SignalWatcher(loop, [SIGUSR1, SIGUSR2]) {
                seen.append($0)
                if seen.count == 2 { loop.stop() }
            }
            kill(ThisProcess.id, SIGUSR1)
            loop.after(50) { kill(ThisProcess.id, SIGUSR2) }
            loop.after(2000) { watcher.close() }
        }
        #expect(seen == [SIGUSR1, SIGUSR2])
    }

    @Test func theLimitOfDescriptorsIsRaised() {
        let before = ProcessSetup.descriptorLimit
        #expect(ProcessSetup.raiseDescriptorLimit() >= before)
        #expect(ProcessSetup.nextDescriptor ?? 0 > 2)
    }
}
