import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { readConfig } from '../../src/config.ts';

/** Checks `compose.yaml` without a container engine. */

const text = readFileSync(join(import.meta.dirname, '../../compose.yaml'), 'utf8');
const { environment, env_file } = parse(text).services.cueline;

test('the service gets all of .env, except what compose.yaml sets itself', () => {
  assert.deepEqual(env_file, [{ path: '.env', required: false }]);
  const dotenv: Record<string, string> = {
    CUELINE_SECRET: 'a secret that only this test knows of',
    POSTGRES_PASSWORD: 'secret',
    CUELINE_METRICS_TOKEN: 'm'.repeat(16),
    CUELINE_OWNER_EMAIL: 'ada@example.com',
    GEMINI_API_KEY: 'key',
    HOST: '127.0.0.1',
    PORT: '80',
  };
  const filled = Object.entries(environment).map(([name, value]) => [
    name,
    String(value).replaceAll(
      /\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}/g,
      (_, of, fallback) => dotenv[of] ?? fallback,
    ),
  ]);
  const config = readConfig({ ...dotenv, ...Object.fromEntries(filled) });
  assert.deepEqual(
    [config.metricsToken, config.owner.email, config.providerEnv],
    [dotenv.CUELINE_METRICS_TOKEN, dotenv.CUELINE_OWNER_EMAIL, { GEMINI_API_KEY: 'key' }],
  );
  assert.deepEqual([config.host, config.port, config.warnings], ['0.0.0.0', 4000, []]);
  assert.equal(config.databaseUrl, 'postgres://cueline:secret@postgres:5432/cueline');
});
