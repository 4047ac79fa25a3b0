internal import WiretapeCapture
internal import WiretapeCommandLine
internal import WiretapePackets
internal import WiretapeSystem

/// A file on disk that is imported, read from any place, and the files beside it.
final class ImportFile: ForeignSource {
    private let file: File
    private let path: String

    init(_ path: String) throws(FileError) {
        self.path = path
        file = try File.reading(path)
    }

    var size: UInt64 { file.size }
    var isRegular: Bool { file.isRegular }

    func read(at offset: UInt64, limit: Int, into out: inout [UInt8]) throws(CaptureFault) -> Int {
        do throws(FileError) {
            return try file.read(at: offset, limit: limit, into: &out)
        } catch {
            throw CaptureFault(offset: offset, reason: error.reason)
        }
    }

    /// A file in the folder of the archive or below it, never elsewhere.
    func side(_ name: String, limit: Int) throws(CaptureFault) -> [UInt8]? {
        guard !name.hasPrefix("/"), !name.split(separator: "/").contains("..") else {
            throw CaptureFault(offset: 0, reason: "the file \(name) that it names is not in its own folder")
        }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        guard File.exists(folder + name) else { return nil }
        do throws(FileError) {
            let side = try File.reading(folder + name)
            var all: [UInt8] = []
            while all.count <= limit {
                guard try side.read(at: UInt64(all.count), limit: 1 << 20, into: &all) > 0 else { return all }
            }
        } catch {
            throw CaptureFault(offset: 0, reason: "\(name): \(error.reason)")
        }
        throw CaptureFault(offset: 0, reason: "\(name) takes more than --memory allows")
    }

    /// All of a pipe, within a limit.
    /// - Parameter begun: what was read of it before.
    func whole(after begun: [UInt8], limit: Int) throws -> [UInt8] {
        var all = begun
        while all.count <= limit {
            guard try read(at: UInt64(all.count), limit: 1 << 20, into: &all) > 0 else { return all }
        }
        throw Failure("standard input is longer than --memory allows for it; name a file, which is read in pieces")
    }
}
