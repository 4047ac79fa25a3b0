// fuzz TARGET [LIBFUZZER ARGUMENTS]: gives what libFuzzer makes up to one target; fuzz --list names them, each with the longest
// input that makes sense. tools/fuzz builds and runs it.
internal import CWiretapeFuzzer
internal import WiretapeFuzz
internal import WiretapeSystem

// Lifetime: libFuzzer's bytes are copied before a target sees them; the arguments live as long as the process.

guard CommandLine.arguments.count > 1, CommandLine.arguments[1] != "--list" else {
    for target in FuzzTarget.all { print(target.name, target.longest) }
    ThisProcess.exit(CommandLine.arguments.count > 1 ? 0 : 64)
}
guard let target = FuzzTarget.named(CommandLine.arguments[1]) else {
    print("fuzz: there is no target '\(CommandLine.arguments[1])'; fuzz --list names them")
    ThisProcess.exit(64)
}
let chosen = target

/// Only libFuzzer's thread calls it; a global function because C takes no closure with a context.
func one(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    if let wrong = chosen.run(bytes) {
        // A release build does not print the reason of a trap.
        Console.error.write("WRONG: \(chosen.name): \(wrong)\n")
        preconditionFailure(wrong)
    }
    return 0
}

// libFuzzer takes the target's name for a folder: it sees the arguments without it.
var count = CommandLine.argc - 1
var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv + 1
unsafe CommandLine.unsafeArgv[1] = CommandLine.unsafeArgv[0]
ThisProcess.exit(unsafe LLVMFuzzerRunDriver(&count, &words) { unsafe one($0, $1) })
