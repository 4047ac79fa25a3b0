internal import WiretapeSystem

ThisProcess.unblockSignals()
ThisProcess.exit(Tool.run(Array(CommandLine.arguments.dropFirst())))
