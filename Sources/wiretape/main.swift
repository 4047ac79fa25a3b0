internal import WiretapeSystem

ThisProcess.unblockSignals()
ThisProcess.ignoreFileSizeSignal()
ThisProcess.exit(Tool.run(Array(CommandLine.arguments.dropFirst())))
