// The pages say what is true: each listing stands in a file that a test runs, and what a failure looks like is what it looks like.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { replay } from 'wiretape';
import { checkout, recordings } from './peers.js';

const pages = ['docs/javascript.md', 'clients/node/README.md', 'Examples/node/README.md'];

/** The blocks of a page with the file that stands above each: {path, language, text}. */
function listings(page) {
    const text = readFileSync(join(checkout, page), 'utf8');
    return [...text.matchAll(/(?:<!-- from (\S+) -->\n)?```(\w+)\n(.*?)\n```/gs)].map(([, path, language, text]) => ({ path, language, text }));
}

const withoutIndent = (text) => text.split('\n').map((line) => line.trim()).join('\n');

for (const page of pages) {
    test(`every listing of ${page} stands in a file that a test runs`, () => {
        const code = listings(page).filter(({ language }) => language === 'js');
        for (const { path, text } of code) {
            assert.ok(path, `no file is named above:\n${text}`);
            const file = withoutIndent(readFileSync(join(checkout, path), 'utf8'));
            assert.ok(file.includes(withoutIndent(text)), `${path} does not have:\n${text}`);
        }
    });

    test(`what ${page} links to is there`, () => {
        const folder = join(checkout, page, '..');
        const links = [...readFileSync(join(checkout, page), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link);
        assert.deepEqual(links.filter((link) => !existsSync(join(folder, link))), []);
    });
}

test('docs/javascript.md shows what a failure says', async () => {
    const server = await replay(join(recordings, 'chat.tape.gz'), { seed: 42, speed: 'instant' });
    const { message } = await server.close().then(() => assert.fail('nobody came, and it passed'), (error) => error);
    const said = message.replaceAll(server.url, 'http://127.0.0.1:41234').replaceAll(recordings, 'recordings');
    assert.deepEqual(listings('docs/javascript.md').filter(({ language }) => language === 'text').map(({ text }) => text), [said]);
});
