import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { addAgent } from '../../harness/agents.ts';
import { addEndpoint } from '../../harness/endpoints.ts';
import { startReceiver, toReceivers } from '../../harness/receiver.ts';
import { startService } from '../../harness/service.ts';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { cut, json, problem, reset, silence, stage } from './server.ts';

/** `clients/python/cueline.py` against the real service and against scripted servers. */

const folder = join(import.meta.dirname, '../../clients/python');
const skip = spawnSync('python3', ['--version']).status !== 0 && 'python3 is not installed';

const service = await startService({ config: toReceivers });
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service, { user: 'Explain {{topic}}.' });

/** Whatever the script passes to `show`, with a client `client` of the given server. Delays are recorded, not awaited. */
async function python(
  script: string,
  env: Readonly<Record<string, string>> = {},
  url = service.url,
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
): Promise<any> {
  const prelude = `
import json, os, sys
import cueline
from cueline import Cueline, CuelineError, verify_webhook
delays = []
if os.environ["URL"] != ${JSON.stringify(service.url)}:
    cueline.time.sleep = delays.append
client = Cueline(os.environ["URL"], os.environ["KEY"], timeout=float(os.environ.get("TIMEOUT", "90")))
agent = ${JSON.stringify(agent.agentId)}
def failing(call):
    try:
        call()
    except CuelineError as error:
        return [error.code, error.status, str(error)]
    return None
def show(value):
    print(json.dumps(value))
`;
  const { stdout } = await promisify(execFile)('python3', ['-c', prelude + script], {
    env: {
      PATH: process.env.PATH,
      PYTHONPATH: folder,
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONUTF8: '1',
      URL: url,
      KEY: key,
      ...env,
    },
  });
  return JSON.parse(stdout);
}

test('an execution from its variables to its end, and one that fails is a result', {
  skip,
}, async () => {
  const [ended, again] = await python(`
ended = client.execute_and_wait(agent, {"topic": "tides \\U0001f30a"}, user="u-1", tags=["a"], metadata={"b": "c"})
accepted = client.execute(agent, {"topic": "x"}, idempotency_key="once")
replayed = client.execute(agent, {"topic": "x"}, idempotency_key="once")
client.wait(agent, accepted["executionId"])
show([ended, [accepted["executionId"], replayed["executionId"], client.status(agent, accepted["executionId"])["status"]]])
`);
  assert.deepEqual(
    [ended.status, ended.outputText, ended.user, ended.tags, ended.metadata, ended.tokensUsed],
    ['success', 'Explain tides 🌊.', 'u-1', ['a'], { b: 'c' }, 15],
  );
  assert.deepEqual([again[0], again[2]], [again[1], 'success']);
  service.models.script(new ModelFailure('CONTENT_FILTERED', 'No.'));
  const refused = await python('show(client.execute_and_wait(agent, {"topic": "x"}))');
  assert.deepEqual([refused.status, refused.errorCode], ['failed', 'CONTENT_FILTERED']);
});

test('an execution is followed as a stream, awaited with a limit, and canceled once', {
  skip,
}, async () => {
  const types = await python(`
accepted = client.execute(agent, {"topic": "waves"}, stream=True)
events = list(client.stream(agent, accepted["executionId"]))
later = list(client.stream(agent, accepted["executionId"], after=[e for e in events if e["type"] == "text"][-1]["id"]))
show([[[e["type"] for e in events][-1], "".join(e["data"]["text"] for e in events if e["type"] == "text")], [e["type"] for e in later if e["type"] != "status"]])
`);
  assert.deepEqual(types, [['end', 'Explain waves.'], ['end']]);
  const held = service.models.hold();
  const canceled = await python(`
accepted = client.execute(agent, {"topic": "x"})
late = failing(lambda: client.wait(agent, accepted["executionId"], timeout=0.1))
show([late[0], client.cancel(agent, accepted["executionId"])["status"], failing(lambda: client.cancel(agent, accepted["executionId"]))[:2]])
`);
  assert.deepEqual(canceled, ['WAIT_TIMEOUT', 'canceled', ['ALREADY_ENDED', 409]]);
  held.release();
});

test('a batch is uploaded from objects, text and a file, and its results are read as they come', {
  skip,
}, async () => {
  const results = await python(`
import pathlib, tempfile
lines = [{"id": str(n), "variables": {"topic": str(n)}} for n in range(3)]
text = "".join(json.dumps(line) + "\\n" for line in lines)
path = pathlib.Path(tempfile.mkdtemp()) / "lines.jsonl"
path.write_text(text)
shown = []
for given in (lines, text, text.encode(), path):
    batch = client.batches.upload(agent, given)
    ended = client.batches.wait(agent, batch)
    results = list(client.batches.results(agent, batch, status=["success", "failed"]))
    shown.append([ended["status"], ended["counts"]["success"], [[r["id"], r["outputText"]] for r in results]])
    assert client.batches.get(agent, batch)["batchId"] == batch
show([shown, failing(lambda: client.batches.cancel(agent, batch))[:2]])
`);
  const rows = ['0', '1', '2'].map((id) => [id, `Explain ${id}.`]);
  assert.deepEqual(results, [Array(4).fill(['completed', 3, rows]), ['ALREADY_ENDED', 409]]);
});

test('refusals have their code, any operation can be called, and no error quotes the key', {
  skip,
}, async () => {
  const shown = await python(`
wrong = Cueline(os.environ["URL"], "cue_wrong")
show([
    failing(lambda: client.execute("none", {}))[:2],
    failing(lambda: client.execute(agent, {}))[:2],
    failing(lambda: wrong.execute(agent, {"topic": "x"})),
    client.request("GET", "/api/v1/agents", query={"limit": 1})["agents"][0]["agentId"],
    failing(lambda: client.request("POST", "/api/v1/prompts", {}))[0],
    repr(client),
])
`);
  assert.deepEqual(shown.slice(0, 2), [
    ['NOT_FOUND', 404],
    ['MISSING_VARIABLES', 400],
  ]);
  assert.deepEqual([shown[2][1], shown[3], shown[4]], [401, agent.agentId, 'INVALID_REQUEST']);
  assert.doesNotMatch(shown[2][2] + shown[5], /cue_/);
});

test('a key is trimmed, and one with other characters is refused without quoting it', {
  skip,
}, async () => {
  const shown = await python(`
def refused(key, url="http://127.0.0.1:1"):
    try:
        Cueline(base_url=url, key=key)
    except ValueError as error:
        return str(error)
trimmed = Cueline(os.environ["URL"] + "/", " " + os.environ["KEY"] + "\\n")
show([trimmed.execute_and_wait(agent, {"topic": "x"})["status"], refused(""), refused("cue_a\\nb"), refused("cue_\\u00e4"), refused("cue_x", "file:///etc/passwd")])
`);
  assert.equal(shown[0], 'success');
  for (const message of shown.slice(1, 4)) assert.match(message, /^The API key is empty, or has/);
  assert.match(shown[4], /^base_url must begin with http/);
  assert.doesNotMatch(JSON.stringify(shown), /cue_/);
});

test('what is safe is retried: any call after 429, others with an idempotency key', {
  skip,
}, async (t) => {
  const unavailable = problem(503, 'UNAVAILABLE', { headers: { 'retry-after': '3' } });
  const accepted = json(202, { executionId: 'exe_1' });
  const first = await stage(
    t,
    problem(429, 'RATE_LIMIT_EXCEEDED', { headers: { 'retry-after': '2' } }),
    unavailable,
    accepted,
  );
  const delays = await python('client.execute("a", {}); show(delays)', {}, first.url);
  assert.deepEqual(
    delays.map((seconds: number) => Math.floor(seconds)),
    [2, 3],
  );
  for (const step of [problem(502, 'X'), reset, cut]) {
    const once = await stage(t, step, accepted);
    const [code] = await python('show(failing(lambda: client.execute("a", {})))', {}, once.url);
    assert.ok(['X', 'CONNECTION_FAILED'].includes(code), code);
    assert.equal(once.requests.length, 1);
    const twice = await stage(t, step, accepted);
    await python('show(client.execute("a", {}, idempotency_key="k"))', {}, twice.url);
    assert.deepEqual(
      twice.requests.map(({ headers }) => headers['idempotency-key']),
      ['k', 'k'],
    );
  }
  const long = await stage(
    t,
    problem(429, 'QUOTA_EXCEEDED', { headers: { 'retry-after': '3600' } }),
  );
  assert.deepEqual(
    await python('show(failing(lambda: client.status("a", "b"))[:2])', {}, long.url),
    ['QUOTA_EXCEEDED', 429],
  );
  assert.equal(long.requests.length, 1);
});

test('a redirect, a page, an address with dots and a server that never answers are refused', {
  skip,
}, async (t) => {
  const target = await stage(t, json(200, {}));
  const moved = await stage(t, (response) =>
    response.writeHead(307, { location: target.url }).end(),
  );
  assert.deepEqual(
    await python('show(failing(lambda: client.status("a", "b"))[:2])', {}, moved.url),
    ['UNEXPECTED_ANSWER', 307],
  );
  assert.equal(target.requests.length, 0);
  const page = await stage(t, (response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  );
  const codes = await python(
    'show([failing(lambda: client.status("a", "b"))[0], failing(lambda: list(client.stream("a", "b")))[0], failing(lambda: list(client.batches.results("a", "b")))[0]])',
    {},
    page.url,
  );
  assert.deepEqual(codes, ['UNEXPECTED_ANSWER', 'UNEXPECTED_ANSWER', 'UNEXPECTED_ANSWER']);
  const dots = await python(
    `
def refused(agent):
    try:
        client.status(agent, "x")
    except ValueError as error:
        return True
show([refused(".."), refused("")])
`,
    {},
    target.url,
  );
  assert.deepEqual([dots, target.requests.length], [[true, true], 0]);
  const mute = await stage(t, silence);
  assert.deepEqual(
    await python('show(failing(lambda: client.status("a", "b"))[0])', { TIMEOUT: '0.2' }, mute.url),
    'TIMEOUT',
  );
  assert.equal(mute.requests.length, 3);
});

test('a stream that is lost is opened again where it was lost', { skip }, async (t) => {
  const requests: (string | undefined)[] = [];
  const piece = (text: string, id: string) =>
    `id: ${id}\nevent: text\ndata: ${JSON.stringify({ text })}\n\n`;
  const server = createServer((request, response) => {
    requests.push(request.headers['last-event-id'] as string | undefined);
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    if (requests.length === 1)
      response.write(`:\n\n${piece('Hé', '1.2')}id: 1.3\nevent: te`, () => response.destroy());
    else response.end(`${piece('llo', '1.5')}event: end\ndata: {"status": "success"}\n\n`);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const events = await python(
    'show([[e["type"], e["id"], e["data"]] for e in client.stream("a", "b")])',
    {},
    url,
  );
  assert.deepEqual(events, [
    ['text', '1.2', { text: 'Hé' }],
    ['text', '1.5', { text: 'llo' }],
    ['end', null, { status: 'success' }],
  ]);
  assert.deepEqual(requests, [undefined, '1.2']);
});

test('a signed event is verified with either secret of a rotation; a changed one is refused', {
  skip,
}, async () => {
  const receiver = await startReceiver();
  after(receiver.close);
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  const { secret } = await endpoint.call('POST', '/rotate', { graceSeconds: 600 });
  await endpoint.call('POST', '/test');
  const [request] = await receiver.received(1);
  const sent = {
    SECRET: secret,
    OLD: endpoint.secret,
    BODY: request?.body ?? '',
    HEADERS: JSON.stringify(request?.headers),
  };
  const shown = await python(
    `
secret, old, body = os.environ["SECRET"], os.environ["OLD"], os.environ["BODY"]
headers = {name.title(): value for name, value in json.loads(os.environ["HEADERS"]).items()}
stale = dict(headers, **{"Webhook-Timestamp": "1"})
def malformed(secret):
    try:
        verify_webhook(secret, headers, body)
    except ValueError as error:
        return str(error)
show([
    verify_webhook(secret, headers, body.encode()),
    verify_webhook(old, headers, body)["type"],
    verify_webhook(["whsec_AAAA", old], headers, body)["type"],
    failing(lambda: verify_webhook(secret, headers, body + " "))[0],
    failing(lambda: verify_webhook("whsec_AAAA", headers, body))[0],
    failing(lambda: verify_webhook(secret, stale, body))[0],
    failing(lambda: verify_webhook(secret, {}, body))[0],
    malformed("sk_live"),
])
`,
    sent,
  );
  const { id, type, data } = shown[0];
  assert.deepEqual(
    [id, type, data.endpointId],
    [request?.headers['webhook-id'], 'ping', endpoint.endpointId],
  );
  assert.deepEqual(shown.slice(1, 7), ['ping', 'ping', ...Array(4).fill('INVALID_SIGNATURE')]);
  assert.match(shown[7], /^The secret is none of an endpoint/);
});

test('mypy finds no error in the file, and one in a wrong use', {
  skip:
    spawnSync('mypy', ['--version']).status !== 0 && 'mypy is not installed: apt-get install mypy',
}, async () => {
  const check = (...args: string[]) =>
    promisify(execFile)('mypy', ['--strict', '--cache-dir', '/dev/null', ...args], {
      env: { PATH: process.env.PATH, MYPYPATH: folder },
    }).then(
      ({ stdout }) => stdout,
      ({ stdout }) => stdout as string,
    );
  assert.match(await check(join(folder, 'cueline.py')), /^Success/);
  const use =
    'import cueline\nclient = cueline.Cueline("http://x", "k")\nclient.execute_and_wait("a", {})["statuss"]\nclient.execute("a", {}, tags=1)\n';
  const complaints = await check('-c', use);
  assert.match(complaints, /:3: error: .*"statuss"/);
  assert.match(complaints, /:4: error: /);
});
