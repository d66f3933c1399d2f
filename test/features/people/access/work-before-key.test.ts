import assert from 'node:assert/strict';
import { after, mock, test } from 'node:test';
import { RE2JS } from 're2js';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';
import { inlineCharsMax } from '../../../../src/core/compute.ts';
import { generateKey } from '../../../../src/core/people/key.ts';

/** Before the key is known, a body is at most split into JSON: it is parsed at most once, and no schema is compiled. */

const service = await startService();
after(service.close);
const agent = await addAgent(service);
const workflow = await makeWorkflow(service, greeting(agent.agentId));
const revoked = await service.key({ revokedAt: new Date(Date.now() - 86_400_000) });

const marker = 'seen in the body';
const schema = { properties: { a: { pattern: '^before-the-key' } }, title: marker };
const tool = { name: 'find', parameters: schema };
const routes: Record<string, (text: string) => object> = {
  [`${agent.path}/execute`]: (text) => ({ variables: { name: text, more: { schema } } }),
  [`${workflow.path}/execute`]: (text) => ({ input: { name: text, more: { schema } } }),
  '/v1/responses': (text) => ({
    ...{ model: agent.agentId, input: text, tools: [{ type: 'function', ...tool }] },
    text: { format: { type: 'json_schema', name: 'x', schema } },
  }),
  '/v1/chat/completions': (text) => ({
    ...{ model: agent.agentId, messages: [{ role: 'user', content: text }] },
    ...{ tools: [{ type: 'function', function: tool }] },
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
  }),
  '/mcp': (text) => ({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: agent.agentId, arguments: { name: text, more: { schema } } },
  }),
  '/api/v1/prompts': (text) => ({ name: text, schema }),
  '/api/v1/declaration': (text) => ({ declaration: { prompts: [{ name: text, schema }] } }),
};
const short = 'x';
const long = 'x'.repeat(inlineCharsMax);

for (const [path, bodyOf] of Object.entries(routes)) {
  for (const [who, key] of Object.entries({ unknown: generateKey(), revoked: revoked.key })) {
    test(`${path} with a key that is ${who}`, async () => {
      for (const text of [short, long]) {
        const parse = mock.method(JSON, 'parse');
        const compile = mock.method(RE2JS, 'compile');
        const { status } = await fetch(service.url + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(bodyOf(text)),
        });
        const parsed = parse.mock.calls.filter(({ arguments: [given] }) =>
          String(given).includes(marker),
        );
        const compiled = compile.mock.callCount();
        parse.mock.restore();
        compile.mock.restore();
        assert.equal(status, 401);
        assert.ok(parsed.length <= 1, `parsed ${parsed.length} times`);
        assert.equal(compiled, 0);
      }
    });
  }
}
