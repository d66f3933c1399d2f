import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

/** The Markdown files of the project: valid links and short decisions. */

const root = join(import.meta.dirname, '../..');
const files = globSync(['*.md', 'docs/**/*.md', '{bench,dashboard,proof}/README.md'], {
  cwd: root,
});
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const withoutCode = (text: string) => text.replaceAll(/^```[\s\S]*?^```$/gm, '');

/** The anchors that GitHub derives from headings. */
function anchorsOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every relative link refers to an existing file and heading', () => {
  const broken = files.flatMap((file) =>
    [...withoutCode(read(file)).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^https?:/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? file : normalize(join(dirname(file), path));
        if (!existsSync(join(root, target))) return true;
        return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
      })
      .map((link) => `${file}: ${link}`),
  );
  assert.deepEqual(broken, []);
});

test('a decision has at most 400 words and is listed in ARCHITECTURE.md', () => {
  for (const file of globSync('docs/decisions/*.md', { cwd: root })) {
    assert.ok(read(file).split(/\s+/).filter(Boolean).length <= 400, file);
    assert.ok(read('ARCHITECTURE.md').includes(`(${file})`), file);
  }
});
