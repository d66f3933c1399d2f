import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { startService } from '../../../harness/service.ts';
import { spawnCommand } from '../cueline.ts';
import { apply, importFolder } from './imported.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

interface Version {
  readonly name: string;
  readonly version: number;
  readonly type: 'text' | 'chat';
  readonly prompt: unknown;
  readonly config?: unknown;
  readonly labels?: readonly string[];
  readonly tags?: readonly string[];
  readonly commitMessage?: string | null;
}

const publicKey = 'pk-lf-1';
const secretKey = 'sk-lf-2';

/** The prompts of Langfuse's published API: `GET /api/public/v2/prompts` in pages, and `/{promptName}?version=N`. */
async function startLangfuse(t: TestContext, versions: readonly Version[], pageMax = 100) {
  /** Responses that come before the usual ones. */
  const failures: http.RequestListener[] = [];
  const requests: string[] = [];
  const server = http.createServer((request, response) => {
    requests.push(request.url ?? '');
    const failure = failures.shift();
    if (failure) return failure(request, response);
    const [status, body] = answer(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, failures, requests };

  function answer({ url: path = '', headers }: http.IncomingMessage): [number, unknown] {
    const credentials = Buffer.from(`${publicKey}:${secretKey}`).toString('base64');
    if (headers.authorization !== `Basic ${credentials}`)
      return [401, { message: 'Invalid credentials.' }];
    const { pathname, searchParams } = new URL(path, url);
    const [, name] = /^\/api\/public\/v2\/prompts(?:\/([^/]+))?$/.exec(pathname) ?? ['', ''];
    if (name === '') return [404, { message: 'Not found' }];
    if (name === undefined) return [200, page(searchParams)];
    const found = versions.find(
      (one) =>
        one.name === decodeURIComponent(name) &&
        String(one.version) === searchParams.get('version'),
    );
    const defaults = {
      config: {},
      labels: [],
      tags: [],
      commitMessage: null,
      resolutionGraph: null,
    };
    return found
      ? [200, { ...defaults, ...found }]
      : [404, { message: 'Prompt not found', error: 'LangfuseNotFoundError' }];
  }

  function page(query: URLSearchParams) {
    const names = [...new Set(versions.map(({ name }) => name))];
    const limit = Math.min(Number(query.get('limit')), pageMax);
    const number = Number(query.get('page'));
    const data = names.slice((number - 1) * limit, number * limit).map((name) => {
      const own = versions.filter((one) => one.name === name);
      return {
        ...{
          name,
          type: own[0]?.type,
          tags: [],
          lastUpdatedAt: '2026-11-01T00:00:00.000Z',
          lastConfig: {},
        },
        versions: own.map(({ version }) => version),
        labels: own.flatMap(({ labels = [] }) => labels),
      };
    });
    const totalPages = Math.ceil(names.length / limit);
    return { data, meta: { page: number, limit, totalItems: names.length, totalPages } };
  }
}

const critic: Version[] = [
  {
    ...{
      name: 'movies/critic',
      version: 1,
      type: 'chat',
      labels: ['production'],
      tags: ['movies'],
    },
    prompt: [
      { type: 'chatmessage', role: 'system', content: 'You are a {{level}} critic.' },
      { type: 'placeholder', name: 'history' },
      { role: 'user', content: 'Do you like {{movie}}?' },
    ],
    config: { model: 'gpt-4o', temperature: 0.5, supported_languages: ['en'] },
    commitMessage: 'First',
  },
  {
    ...{
      name: 'movies/critic',
      version: 3,
      type: 'chat',
      labels: ['latest', 'staging'],
      tags: ['movies'],
    },
    prompt: [
      { role: 'system', content: 'Judge {{movie}}, {{größe}}.' },
      { role: 'user', content: 'Go.' },
    ],
    config: { model: 'claude-opus-5' },
  },
];

const connection = ['--key', `${publicKey}:${secretKey}`];

test('versions, labels, placeholders and settings are imported, page by page, and apply', async (t) => {
  const short: Version = {
    name: 'Short text',
    version: 2,
    type: 'text',
    prompt: 'Shorten {{text}}',
    labels: ['latest'],
  };
  const langfuse = await startLangfuse(t, [...critic, short], 1);
  const folder = importFolder(t);
  const imported = await folder.run('langfuse', '--url', `${langfuse.url}/`, ...connection);
  assert.equal(imported.code, 0, imported.remarks.join('\n'));
  assert.deepEqual(imported.prompts, [
    {
      name: 'movies/critic',
      versions: [
        {
          label: 'v1',
          messages: [
            { role: 'system', content: 'You are a {{level}} critic.' },
            { placeholder: 'history' },
            { role: 'user', content: 'Do you like {{movie}}?' },
          ],
          ...{ model: 'openai/gpt-4o', temperature: 0.5, notes: 'First' },
        },
        {
          ...{ label: 'v3', system: 'Judge {{movie}}, {{größe}}.', user: 'Go.' },
          model: 'anthropic/claude-opus-5',
        },
      ],
    },
    { name: 'Short text', versions: [{ label: 'v2', user: 'Shorten {{text}}' }] },
  ]);
  const versionAliases = { 1: 'v1', 3: 'v3' };
  const shared = { prompt: 'movies/critic', stage: 'Deployed', versionAliases, tags: ['movies'] };
  assert.deepEqual(imported.agents, [
    { name: 'movies/critic', slug: 'movies-critic', version: 'v1', ...shared },
    { name: 'movies/critic staging', slug: 'movies-critic-staging', version: 'v3', ...shared },
    {
      ...{
        name: 'Short text',
        slug: 'short-text',
        prompt: 'Short text',
        version: 'v2',
        stage: 'Draft',
      },
      ...{ agentConfig: { model: 'cueline/echo' }, versionAliases: { 2: 'v2' } },
    },
  ]);
  await apply(service, key, imported);
  // Remarks are about lines of the file that was written.
  const lines = imported.text.split('\n');
  for (const [start, line] of [
    ['"supported_languages" is not carried over.', 'label: v1'],
    ['{{größe}} is no placeholder here', 'user: Go.'],
    ['No model is known for "Short text"', 'label: v2'],
  ]) {
    const [, number, text = ''] =
      imported.remarks
        .map((one) => /^cueline\.yaml:(\d+): (.*)$/.exec(one))
        .find((match) => match?.[2]?.startsWith(start ?? '')) ?? [];
    assert.ok(lines[Number(number) - 1]?.includes(line ?? ''), `${number}: ${text}`);
  }
});

test('a rate limit and a lost connection are waited for, and a version that is deleted meanwhile is left out', async (t) => {
  const langfuse = await startLangfuse(t, critic);
  langfuse.failures.push(
    (_, response) => response.writeHead(429, { 'retry-after': '0' }).end(),
    (request) => request.socket.destroy(),
    (_, response) => response.writeHead(503, { 'retry-after': '0' }).end(),
  );
  // The list, then its first version.
  const pass: http.RequestListener = (_, response) => {
    response.end(
      JSON.stringify({
        data: [{ name: 'movies/critic', versions: [2, 1] }],
        meta: { totalPages: 1 },
      }),
    );
  };
  langfuse.failures.push(pass);
  const imported = await importFolder(t).run('langfuse', '--url', langfuse.url, ...connection);
  assert.equal(imported.code, 0, imported.remarks.join('\n'));
  assert.deepEqual(
    imported.prompts[0]?.versions.map(({ label }) => label),
    ['v1'],
  );
  assert.equal(langfuse.requests.length, 6);
});

test('the keys may be in the variables of Langfuse', async (t) => {
  const { url } = await startLangfuse(t, critic);
  const { path } = importFolder(t);
  const keys = { LANGFUSE_PUBLIC_KEY: publicKey, LANGFUSE_SECRET_KEY: secretKey };
  const run = (env: Record<string, string>, ...args: string[]) =>
    spawnCommand(['import', 'langfuse', '--url', url, ...args], env, '', path).ended;
  assert.match((await run({})).stderr, /Set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY/);
  assert.equal((await run(keys)).code, 0);
  const other = await run(keys, '--force', '--key', 'pk-lf-1:sk-lf-wrong');
  assert.match(other.stderr, /refuses the key/);
});

test('a wrong key, address or server is explained, without the key', async (t) => {
  const langfuse = await startLangfuse(t, critic);
  const folder = importFolder(t);
  const run = async (url: string, credentials = connection) => {
    const { code, remarks } = await folder.run('langfuse', '--url', url, ...credentials);
    assert.equal(code, 1);
    assert.doesNotMatch(remarks.join(), /sk-lf-2|sk-lf-wrong|pk-lf-1/);
    return remarks.join('\n');
  };
  assert.match(
    await run(langfuse.url, ['--key', 'pk-lf-1:sk-lf-wrong']),
    /refuses the key \(401\)/,
  );
  assert.match(await run(langfuse.url, ['--key', 'sk-lf-2']), /must be PUBLIC:SECRET/);
  assert.match(
    await run(`${langfuse.url}/elsewhere`),
    /responds with 404 to \/api\/public\/v2\/prompts/,
  );
  assert.match(await run('localhost:3000'), /must begin with https/);
  langfuse.failures.push((_, response) => response.end('<html>'));
  assert.match(await run(langfuse.url), /is not JSON, as Langfuse sends it/);
  langfuse.failures.push((_, response) =>
    response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  );
  assert.match(await run(langfuse.url), /responds with 302/);
  langfuse.failures.push((_, response) => response.writeHead(429, { 'retry-after': '3600' }).end());
  assert.match(await run(langfuse.url), /responds with 429\. Try again later/);
  langfuse.failures.push((_, response) => response.end(`"${'x'.repeat(16_777_216)}"`));
  assert.match(await run(langfuse.url), /more than 16777216 bytes/);
});
