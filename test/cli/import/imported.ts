import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Service } from '../../../harness/service.ts';
import { readYaml } from '../../../src/cli/client/yaml.ts';
import type { Example } from '../../../src/cli/import/draft.ts';
import type { Declaration } from '../../../src/client/index.ts';
import { spawnCommand } from '../cueline.ts';

/** Runs `cueline import` in a folder of its own, and applies what it writes. */

type Agent = NonNullable<Declaration['agents']>[number];

export interface Imported {
  readonly code: number | null;
  readonly stdout: string;
  /** The lines of standard error. */
  readonly remarks: string[];
  readonly prompts: NonNullable<Declaration['prompts']>;
  readonly agents: Agent[];
  /** By name of the agent. */
  readonly examples: Record<string, readonly Example[]>;
  /** The text of `cueline.yaml`. */
  readonly text: string;
}

export interface ImportFolder {
  readonly path: string;
  run(...args: string[]): Promise<Imported>;
}

export function importFolder(
  t: TestContext,
  files: Readonly<Record<string, string>> = {},
): ImportFolder {
  const path = mkdtempSync(join(tmpdir(), 'cueline-import-'));
  t.after(() => rmSync(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return { path, run: (...args) => runImport(path, args) };
}

async function runImport(path: string, args: readonly string[]): Promise<Imported> {
  const { code, stdout, stderr } = await spawnCommand(['import', ...args], {}, '', path).ended;
  const file = join(path, 'cueline.yaml');
  const text = code === 0 ? readFileSync(file, 'utf8') : '';
  const { prompts = [], agents = [] } = (readYaml(text, file).value ?? {}) as Declaration;
  return {
    ...{ code, stdout, text, prompts, remarks: stderr.split('\n').slice(0, -1) },
    agents,
    examples: Object.fromEntries(agents.map(({ name, examples = [] }) => [name, examples])),
  };
}

/** Applies the declaration to a workspace, twice: the second time nothing changes. */
export async function apply(service: Service, key: string, { prompts, agents }: Imported) {
  const body = { declaration: { prompts, agents } };
  const applied = await service.call('POST', '/api/v1/declaration', { key, body });
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  const again = await service.call('POST', '/api/v1/declaration', { key, body });
  assert.deepEqual(again.body.changes, []);
}
