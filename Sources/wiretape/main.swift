internal import WiretapeCommands
internal import WiretapeNet
internal import WiretapeSystem

ThisProcess.unblockSignals()
ThisProcess.ignoreFileSizeSignal()
ThisProcess.exit(Tool.run(Array(ProcessSetup.commandLine.dropFirst())))
