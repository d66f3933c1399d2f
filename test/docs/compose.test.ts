import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { readConfig } from '../../src/process/config/config.ts';

/** Checks `compose.yaml` without a container engine. */

const text = readFileSync(join(import.meta.dirname, '../../compose.yaml'), 'utf8');
const { services } = parse(text);
const { environment, env_file } = services.cueline;

test('every service is limited, without capabilities and on a read-only root', () => {
  for (const [name, service] of Object.entries<Record<string, unknown>>(services)) {
    assert.deepEqual(service.cap_drop, ['ALL'], name);
    assert.equal(service.cap_add, undefined, name);
    assert.equal(service.privileged, undefined, name);
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
    assert.equal(service.read_only, true, name);
    assert.match(String(service.mem_limit), /^\d+g$/, name);
    assert.ok(Number(service.pids_limit) > 0, name);
  }
});

test('images have a version and a digest', () => {
  const dockerfile = readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8');
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  assert.equal(bases.length, 2);
  for (const image of [...bases, services.postgres.image]) {
    assert.match(image, /^[a-z]+:\d+\.[\d.]*\d(-slim)?@sha256:[0-9a-f]{64}$/);
  }
});

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
