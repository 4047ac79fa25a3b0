internal import CWiretapeUV
package import WiretapeRuntime
internal import WiretapeSystem

// Lifetime: the words, variables and streams are lent to `uv_spawn`, which copies them into the new process before it
// returns. The process handle lives as every `Handle` does.

/// How a child process ended.
package enum ChildEnd: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)

    /// As a shell tells it: 128 + n for signal n.
    package var exitCode: Int32 {
        switch self {
        case .exited(let code): code
        case .signalled(let number): 128 + number
        }
    }
}

/// A child process with this one's standard streams, or with its output in a file. Keeps its loop going until it has ended.
package final class ChildProcess {
    private let handle: ProcessHandle

    /// Starts `arguments[0]`, found by PATH, with the rest as its arguments.
    /// - Parameters:
    ///   - environment: added to this process's own, or in its place where the name is the same.
    ///   - output: a file that gets its standard output and error; it is emptied. Nil: those of this process.
    ///   - ended: called once, on the loop; not when the loop is shut down before (the child then lives on).
    /// - Throws: `start foo: no such file or directory`.
    package init(
        _ loop: UVLoop, _ arguments: [String], environment: [(name: String, value: String)] = [],
        output: String? = nil, _ ended: @escaping (ChildEnd) -> Void
    ) throws(NetError) {
        handle = ProcessHandle(ended)
        var rc: Int32 = 0
        if let output {
            do throws(FileError) {
                let file = try SystemFile(output, .emptied)
                rc = file.lending { handle.spawn(loop, arguments, environment, output: $0) }
            } catch {
                throw NetError("open \(output)", code: -error.code, reason: error.reason)
            }
        } else {
            rc = handle.spawn(loop, arguments, environment, output: nil)
        }
        guard rc == 0 else { throw NetError("start \(arguments.first ?? "")", status: rc) }
    }

    package var processID: Int32 { handle.processID }

    /// Sends a signal; does nothing when the child has ended.
    package func signal(_ number: Int32) { handle.signal(number) }
}

private final class ProcessHandle: Handle {
    private var ended: ((ChildEnd) -> Void)?

    init(_ ended: @escaping (ChildEnd) -> Void) {
        self.ended = ended
        super.init(UV_PROCESS)
    }

    private var process: UnsafeMutablePointer<uv_process_t> {
        unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_process_t.self)
    }

    func spawn(
        _ loop: UVLoop, _ arguments: [String], _ environment: [(name: String, value: String)], output: Int32?
    ) -> Int32 {
        guard !arguments.isEmpty, !loop.isShutDown else { return UV_EINVAL.rawValue }
        let words = CStrings(arguments)
        let variables = CStrings(Self.merged(environment))
        let rc = unsafe withUnsafeTemporaryAllocation(of: uv_stdio_container_t.self, capacity: 3) { streams in
            for number in 0..<3 {
                unsafe wiretape_inherit(&streams[number], number == 0 ? 0 : output ?? Int32(number))
            }
            var options = unsafe uv_process_options_t()
            unsafe options.file = UnsafePointer(words.pointers[0])
            unsafe options.args = words.pointers.baseAddress
            unsafe options.env = variables.pointers.baseAddress
            unsafe options.stdio_count = 3
            unsafe options.stdio = streams.baseAddress
            unsafe options.exit_cb = { process, status, signal in
                let me = unsafe Handle.owner(process!.pointee.data, as: ProcessHandle.self)
                me.didEnd(status, signal)
            }
            return unsafe uv_spawn(loop.raw, process, &options)
        }
        adopt()
        if rc != 0 { close() }
        return rc
    }

    var processID: Int32 { unsafe process.pointee.pid }

    func signal(_ number: Int32) {
        if !isClosing { _ = unsafe uv_process_kill(process, number) }
    }

    private func didEnd(_ status: Int64, _ signal: Int32) {
        let ended = self.ended
        self.ended = nil
        close()
        ended?(signal != 0 ? .signalled(signal) : .exited(Int32(truncatingIfNeeded: status)))
    }

    override func didClose() { ended = nil }

    private static func merged(_ additions: [(name: String, value: String)]) -> [String] {
        var result: [String] = []
        var own: UnsafeMutablePointer<uv_env_item_t>?
        var count: Int32 = 0
        if unsafe uv_os_environ(&own, &count) == 0, let list = unsafe own {
            for index in 0..<Int(count) {
                let item = unsafe list[index]
                let name = unsafe String(cString: item.name)
                if additions.contains(where: { $0.name == name }) { continue }
                result.append(unsafe "\(name)=\(String(cString: item.value))")
            }
            unsafe uv_os_free_environ(list, count)
        }
        return result + additions.map { "\($0.name)=\($0.value)" }
    }
}

/// A null-terminated array of C strings.
@safe private final class CStrings {
    let pointers: UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>

    init(_ strings: [String]) {
        unsafe pointers = .allocate(capacity: strings.count + 1)
        for (index, string) in strings.enumerated() {
            let bytes = Array(string.utf8CString)
            let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
            _ = unsafe copy.initialize(from: bytes)
            unsafe pointers.initializeElement(at: index, to: copy.baseAddress)
        }
        unsafe pointers.initializeElement(at: strings.count, to: nil)
    }

    deinit {
        for index in unsafe pointers.indices { unsafe pointers[index]?.deallocate() }
        unsafe pointers.deallocate()
    }
}
