import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { clientsFolder, skipWithout } from '../../harness/clients.ts';

/** `deploy/kubernetes.yaml` against the schemas of Kubernetes, without a cluster. */

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'deploy/kubernetes.yaml'), 'utf8');
const manifests = parseAllDocuments(text, { version: '1.1' }).map((one) => one.toJS());
const skip = skipWithout('kubernetes-models');

test('every manifest matches its schema', { skip }, async () => {
  const models = join(clientsFolder, 'node_modules/kubernetes-models');
  for (const manifest of manifests) {
    const module = await import(join(models, manifest.apiVersion, 'index.js'));
    new module[manifest.kind](manifest).validate();
  }
});

test('no manifest has a field that Kubernetes does not know', { skip }, async (t) => {
  // The schemas ignore unknown fields; the compiler does not, in a literal.
  const folder = await mkdtemp(join(tmpdir(), 'cueline-test-'));
  t.after(() => rm(folder, { recursive: true }));
  await symlink(join(clientsFolder, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  const lines = manifests.flatMap((manifest, index) => [
    `import type { I${manifest.kind} as Type${index} } from 'kubernetes-models/${manifest.apiVersion}';`,
    `export const manifest${index}: Type${index} = ${JSON.stringify(manifest)};`,
  ]);
  await writeFile(join(folder, 'manifests.ts'), lines.join('\n'));
  const options = ['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext'];
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...options, 'manifests.ts'], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout.slice(0, 2_000));
});
