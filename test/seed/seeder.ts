import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type pg from 'pg';
import { inherited } from '../../harness/environment.ts';
import { databaseUrl } from '../../harness/process.ts';

const script = join(import.meta.dirname, '..', '..', 'seed', 'main.ts');

/** Runs `npm run seed` on the database of a test. */
export async function runSeed(
  args: readonly string[],
  connection: pg.ClientConfig,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...inherited(), DATABASE_URL: databaseUrl(connection) },
    timeout: 150_000,
  });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  }
  const [code] = await once(child, 'close');
  return { code, ...text };
}
