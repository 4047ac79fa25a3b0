// The real clients that tests play with: @microsoft/signalr and graphql-ws out of the folder of peers that tools/interop uses.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

export const checkout = fileURLToPath(new URL('../../..', import.meta.url));
export const recordings = join(checkout, 'recordings');

const folder = process.env.WIRETAPE_PEERS || join(checkout, '../shared/peers');
const isThere = existsSync(join(folder, 'npm/unpack'));
if (process.env.WIRETAPE_PEERS && !isThere) throw new Error(`WIRETAPE_PEERS=${folder} is not the folder of peers: it has no npm/unpack`);
const modules = isThere ? execFileSync(join(folder, 'npm/unpack'), { encoding: 'utf8' }).trim() : null;

/** One of the packages: `client('@microsoft/signalr')`. */
export const client = modules === null ? null : createRequire(join(modules, 'resolve.js'));

let skipped = 0;
after(() => {
    if (skipped > 0) console.log(`skipped ${skipped} tests that play with real clients: there is no folder of peers at ${folder} (WIRETAPE_PEERS)`);
});

/** A test that needs the real clients. Where they are not, it is skipped, and the sentence at the end counts it. */
export function clientTest(name, body) {
    if (modules === null) skipped += 1;
    return test(name, { skip: modules === null && 'no folder of peers (WIRETAPE_PEERS)' }, body);
}
