// Everything that the package offers: replays of recorded servers for tests, recordings, and what goes wrong with them.
export { replay, withReplay, Replay } from './lib/replay.js';
export { record, Recording } from './lib/record.js';
export { onTape } from './lib/on-tape.js';
export { WiretapeError, WiretapeFailure } from './lib/failure.js';
