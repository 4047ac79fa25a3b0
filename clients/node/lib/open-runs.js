// Runs that nobody has ended. One that is left when the process ends has a verdict that nobody looked at: that is no success.
const open = new Set();
let isWatching = false;

/** @param {import('./child.js').Child} run It has begun. */
export function opened(run) {
    open.add(run);
    if (isWatching) return;
    isWatching = true;
    process.on('exit', () => {
        for (const left of open) {
            process.stderr.write(`wiretape: ${left.what} was neither closed nor stopped: nobody has looked at its verdict.\n`);
            process.exitCode ||= 1;
            left.signal('SIGKILL');
        }
    });
}

/** @param {import('./child.js').Child} run Its process has ended. */
export function ended(run) {
    open.delete(run);
}
