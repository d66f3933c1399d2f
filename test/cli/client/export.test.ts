import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { addAgent, type TestAgent } from '../../../harness/agents.ts';
import { makeHistory } from '../../../harness/history.ts';
import { type Service, startService } from '../../../harness/service.ts';
import { type CommandResult, cueline } from '../cueline.ts';

/** `cueline history export` as a process against the real service, over unreliable connections. */

let service: Service;
let key: string;
let agent: TestAgent;
let folder: string;
/** The complete export over a reliable connection. */
let whole: Record<'jsonl' | 'csv' | 'spreadsheet', string>;

before(async () => {
  service = await startService({ role: 'api' });
  agent = await addAgent(service);
  key = (await service.key({ permissions: ['read'] })).key;
  const { db, workspaceId } = service;
  await makeHistory(db, 2_000, { workspaceId, agentIds: [agent.id] });
  folder = await mkdtemp(join(tmpdir(), 'cueline-test-'));
  whole = {
    jsonl: await exported('format=jsonl'),
    csv: await exported('format=csv'),
    spreadsheet: await exported('format=csv&bom=true'),
  };
});
after(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

async function exported(query: string): Promise<string> {
  const url = `${service.url}${agent.path}/executions/export?${query}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  // `text()` would drop a byte order mark.
  return Buffer.from(await response.arrayBuffer()).toString();
}

function call(args: readonly string[], url = service.url): Promise<CommandResult> {
  return cueline(['history', 'export', ...args], { CUELINE_URL: url, CUELINE_KEY: key });
}

test('exports to standard output and prints nothing else there', async () => {
  const { code, stdout, stderr } = await call([agent.agentId]);
  assert.deepEqual([code, stderr], [0, '']);
  assert.equal(stdout, whole.jsonl);
});

test('exports all agents with filters', async () => {
  const args = ['--status', 'failed', '--var', 'customer=c7', '--q', 'tide or 7'];
  const { stdout } = await call(args);
  const records = whole.jsonl
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const ids = records
    .filter(({ status, inputVariables }) => status === 'failed' && inputVariables.customer === 'c7')
    .filter(({ inputVariables }) => inputVariables.number === 7)
    .map(({ executionId }) => executionId);
  assert.deepEqual(
    stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).executionId),
    ids,
  );
});

for (const format of ['jsonl', 'csv'] as const) {
  test(`${format} to a file over a connection that breaks repeatedly contains every record once`, async () => {
    const file = join(folder, `broken.${format}`);
    const breaking = await breakingProxy([40_000, 100_000, 90_001]);
    const { code, stderr } = await call(
      [agent.agentId, '--format', format, '--output', file],
      breaking.url,
    );
    assert.equal(code, 0, stderr);
    assert.ok(breaking.broken() >= 3);
    await breaking.close();
    assert.equal(await readFile(file, 'utf8'), whole[format]);
    assert.match(stderr, /^Exported \d+ records to /);
  });

  test(`${format} resumes a file that ends in the middle of a record`, async () => {
    const file = join(folder, `left.${format}`);
    for (const left of [0, 700, 123_457]) {
      await writeFile(file, whole[format].slice(0, left));
      const { code, stderr } = await call([
        agent.agentId,
        '--format',
        format,
        '--output',
        file,
        '--resume',
      ]);
      assert.equal(code, 0, stderr);
      assert.equal(await readFile(file, 'utf8'), whole[format]);
    }
  });
}

test('a file keeps its content until the first data arrives', async () => {
  const file = join(folder, 'yesterday.jsonl');
  await writeFile(file, whole.jsonl);
  const args = [agent.agentId, '--output', file];
  const refused = await call([...args, '--key', 'cue_wrong']);
  assert.match(refused.stderr, /UNAUTHORIZED/);
  assert.equal((await call(args, 'http://127.0.0.1:1')).code, 1);
  assert.equal(await readFile(file, 'utf8'), whole.jsonl);
  assert.equal((await call([...args, '--var', 'customer=c7'])).code, 0);
  const fewer = await readFile(file, 'utf8');
  assert.ok(fewer !== '' && fewer.length < whole.jsonl.length);
  assert.equal((await call([...args, '--var', 'customer=nobody'])).code, 0);
  assert.equal(await readFile(file, 'utf8'), '');
  assert.equal((await call([agent.agentId, '--output', '/dev/null'])).code, 0);
});

test('with --json, prints only the records or the file', async () => {
  const { code, stdout } = await call([agent.agentId, '--json']);
  assert.deepEqual([code, stdout], [0, whole.jsonl]);
  const file = join(folder, 'told.csv');
  const result = await call([agent.agentId, '--json', '--format', 'csv', '--output', file]);
  assert.deepEqual([result.code, result.stderr], [0, '']);
  const records = whole.jsonl.split('\n').length - 1;
  assert.deepEqual(JSON.parse(result.stdout), { records, file });
  assert.equal(await readFile(file, 'utf8'), whole.csv);
});

test('a connection that breaks after the CSV header leads to one header', async () => {
  const file = join(folder, 'head.csv');
  const head = whole.csv.slice(0, whole.csv.indexOf('\n') + 1);
  const breaking = await breakingProxy([], head);
  const { code, stderr } = await call(
    [agent.agentId, '--format', 'csv', '--output', file],
    breaking.url,
  );
  assert.equal(code, 0, stderr);
  assert.equal(breaking.broken(), 1);
  await breaking.close();
  assert.equal(await readFile(file, 'utf8'), whole.csv);
});

test('resume detects the format of the file from any prefix', async () => {
  const file = join(folder, 'left');
  const headLength = whole.csv.indexOf('\n') + 1;
  for (const [format, left] of [
    ['csv', 5],
    ['csv', headLength],
    ['csv', headLength + 10],
    ['csv', 123_457],
    ['jsonl', 10],
    ['jsonl', 123_457],
  ] as const) {
    await writeFile(file, whole[format].slice(0, left));
    const { code, stderr } = await call([agent.agentId, '--output', file, '--resume']);
    assert.equal(code, 0, stderr);
    assert.equal(await readFile(file, 'utf8'), whole[format], `${format} ${left}`);
  }
  const held = whole.csv.slice(0, 10_000);
  await writeFile(file, held);
  const args = [agent.agentId, '--output', file, '--resume', '--format', 'jsonl'];
  const { code, stderr } = await call(args);
  assert.equal(code, 1);
  assert.match(stderr, /contains a csv export, not jsonl/);
  assert.equal(await readFile(file, 'utf8'), held);
});

test('--bom writes CSV for spreadsheets, and resume continues it', async () => {
  const file = join(folder, 'sheet.csv');
  const args = [agent.agentId, '--output', file];
  const written = await call([...args, '--format', 'csv', '--bom']);
  assert.equal(written.code, 0, written.stderr);
  assert.equal(await readFile(file, 'utf8'), whole.spreadsheet);
  for (const left of [1, 10, 123_457]) {
    await writeFile(file, whole.spreadsheet.slice(0, left));
    const { code, stderr } = await call([...args, '--resume']);
    assert.equal(code, 0, stderr);
    assert.equal(await readFile(file, 'utf8'), whole.spreadsheet);
  }
  await writeFile(file, whole.csv.slice(0, 10_000));
  const { stderr } = await call([...args, '--resume', '--bom']);
  assert.match(stderr, /begins without a byte order mark/);
});

test('an invalid command prints one line', async () => {
  const cases: [string[], RegExp][] = [
    [['--resume'], /--resume requires --output/],
    [[agent.agentId, '--json', '--format', 'csv'], /--format csv also requires --output/],
    [[agent.agentId, '--output', join(folder, 'no', 'such')], /Cannot write/],
    [[agent.agentId, '--status', 'fine'], /status.*success/],
    [['agt_nothing'], /no such agent/],
    [[agent.agentId, '--format', 'xml'], /jsonl, csv/],
    [[agent.agentId, '--bom'], /--bom requires --format csv/],
  ];
  for (const [args, said] of cases) {
    const { code, stdout, stderr } = await call(args);
    assert.notEqual(code, 0);
    assert.match(stderr, said);
    assert.equal(stdout, '');
  }
  const file = join(folder, 'other.txt');
  await writeFile(file, 'a letter to somebody\n');
  const { code, stderr } = await call([agent.agentId, '--output', file, '--resume']);
  assert.equal(code, 1);
  assert.match(stderr, /is not an export/);
  assert.equal(await readFile(file, 'utf8'), 'a letter to somebody\n');
});

/**
 * Closes a connection after the given number of response bytes, or once after the given text. Later
 * connections stay open.
 */
async function breakingProxy(afterBytes: number[], behind = '') {
  const open = new Set<Socket>();
  let broken = 0;
  const target = new URL(service.url);
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let bytes = 0;
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket
        .on('error', () => {})
        .once('close', () => {
          client.destroy();
          upstream.destroy();
          open.delete(socket);
        });
    }
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      const at = behind === '' ? -1 : chunk.indexOf(behind);
      if (at !== -1) {
        const sent = chunk.subarray(0, at + behind.length);
        behind = '';
        broken++;
        client.end(sent);
        upstream.destroy();
        return;
      }
      bytes += chunk.length;
      client.write(chunk);
      if (bytes <= (afterBytes[0] ?? Number.POSITIVE_INFINITY)) return;
      afterBytes.shift();
      broken++;
      client.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    broken: () => broken,
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
