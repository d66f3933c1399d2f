import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { startService } from '../../harness/service.ts';
import { type ModelCall, ModelFailure } from '../../src/core/model/model-port.ts';

/** Applies the examples of docs/workflows.md and runs them against fake models. */

const text = readFileSync(join(import.meta.dirname, '../../docs/workflows.md'), 'utf8');
const files = [...text.matchAll(/^```yaml\n# ([\w-]+)\n([\s\S]*?)^```$/gm)].map(
  ([, name = '', yaml = '']) => ({ name, yaml }),
);
const examples = new Map(files.map(({ name, yaml }) => [name, parse(yaml)]));

const service = await startService();
after(service.close);
const { key } = await service.key();

/** Applies an example, runs it with scripted models, and returns the workflow run. */
async function run(
  name: string,
  input: object,
  calls: number,
  answer: (call: ModelCall) => string | ModelFailure,
) {
  const declaration = examples.get(name);
  assert.ok(declaration, `the document has the example ${name}`);
  const body = { declaration };
  const applied = await service.call('POST', '/api/v1/declaration', { key, body });
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  const again = await service.call('POST', '/api/v1/declaration', { key, body });
  assert.deepEqual(again.body.changes, []);
  const { workflows } = (await service.call('GET', `/api/v1/workflows?q=${name}`, { key })).body;
  const path = `/api/v1/workflows/${workflows[0].workflowId}`;
  const script = Array.from({ length: calls }, () => async (call: ModelCall) => {
    const result = answer(call);
    if (result instanceof ModelFailure) throw result;
    return { text: result };
  });
  service.models.script(...script);
  const before = service.models.calls.length;
  const started = await service.call('POST', `${path}/execute`, { key, body: { input } });
  assert.equal(started.status, 202, JSON.stringify(started.body));
  for (;;) {
    const { body: now } = await service.call('GET', `${started.body.statusUrl}?wait=30`, { key });
    if (now.status === 'processing') continue;
    assert.equal(service.models.calls.length - before, calls);
    return now;
  }
}

test('the document has three examples', () => {
  assert.deepEqual(
    [...examples.keys()],
    ['triage-and-reply', 'nightly-report', 'two-models-with-a-judge'],
  );
});

test('each example works offline first, and then unchanged', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const other = await service.key({ workspaceId, userId });
  const [, script = ''] = /sed -E '([^']+)' FILE \| cueline apply -/.exec(text) ?? [];
  for (const { name, yaml } of files) {
    const offline = execFileSync('sed', ['-E', script], { input: yaml, encoding: 'utf8' });
    assert.doesNotMatch(offline, /openai|anthropic|google/);
    for (const declaration of [parse(offline), parse(yaml)]) {
      const call = { key: other.key, body: { declaration } };
      const applied = await service.call('POST', '/api/v1/declaration', call);
      assert.equal(applied.status, 200, `${name} ${JSON.stringify(applied.body)}`);
    }
  }
});

test('triage and reply: a ticket is answered, spam is not', async () => {
  const fenced = '```json\n{"kind": "billing", "summary": "Charged twice."}\n```';
  const answered = await run('triage-and-reply', { ticket: 'Twice!' }, 2, ({ user }) =>
    user === 'Twice!' ? fenced : `<${user}>`,
  );
  const reply = '<Write a kind reply to a customer. It is about: billing.\nCharged twice.>';
  assert.deepEqual([answered.status, answered.output], ['success', { kind: 'billing', reply }]);

  const spam = await run('triage-and-reply', { ticket: 'Win!' }, 1, () => '{"kind":"spam"}');
  assert.deepEqual([spam.status, spam.output], ['success', { kind: 'spam', reply: null }]);
  const [, step] = spam.steps;
  assert.deepEqual([step.status, step.skippedReason], ['skipped', 'CONDITION']);
});

test('triage and reply: if the reply fails, its fallback is used', async () => {
  const failed = new ModelFailure('CONTENT_FILTERED', 'No.');
  const run_ = await run('triage-and-reply', { ticket: 'Twice!' }, 2, ({ user }) =>
    user === 'Twice!' ? '{"kind":"billing","summary":"s"}' : failed,
  );
  const output = { kind: 'billing', reply: 'Thank you, we will come back to you.' };
  assert.deepEqual([run_.status, run_.output], ['success', output]);
  assert.equal(run_.steps[1].fallback, true);
});

test('nightly report: one call per customer, and one report', async () => {
  const customers = ['Ada', 'Bo', 'Cy', 'Di', 'Ed'].map((name) => ({
    name,
    events: [name.length],
  }));
  const report = await run('nightly-report', { customers, count: 5 }, 6, ({ user }) => {
    if (user.includes('at Cy since')) return new ModelFailure('CONTENT_FILTERED', 'No.');
    return user.startsWith('Write')
      ? user
      : (/at (\w+) since.*Events: (.*)$/.exec(user) ?? []).slice(1).join(' ');
  });
  assert.equal(report.status, 'success');
  assert.equal(
    report.output,
    'Write a report of one page from these 5 summaries, the most urgent first:\n["Ada [3]","Bo [2]",null,"Di [2]","Ed [2]"]',
  );
  const [summaries] = report.steps;
  assert.deepEqual(
    [summaries.itemCount, summaries.items.map((one: { status: string }) => one.status)],
    [5, ['success', 'success', 'failed', 'success', 'success']],
  );
});

test('two models with a judge: both answer, the judge decides', async () => {
  const judged = await run('two-models-with-a-judge', { question: 'Why?' }, 3, (call) => {
    if (call.user === 'Why?') return call.model.startsWith('openai/') ? 'Because.' : 'Therefore.';
    assert.match(call.user, /^Why\?\nA: Because\.\nB: Therefore\.\n/);
    return '{"best": "B", "why": "It is longer."}';
  });
  assert.deepEqual(judged.output, {
    ...{ best: 'B', why: 'It is longer.' },
    answers: { A: 'Because.', B: 'Therefore.' },
  });
});
