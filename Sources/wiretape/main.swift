internal import WiretapeSystem

ThisProcess.exit(Tool.run(Array(CommandLine.arguments.dropFirst())))
