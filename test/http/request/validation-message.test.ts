import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TObject, TSchema } from 'typebox';
import { endpoints } from '../../../src/faces/reference/operations-index.ts';
import { AgentInput } from '../../../src/features/agents/contract/agent-record.ts';
import { WorkflowDefinitionInput } from '../../../src/features/workflows/contract/workflow-definition.ts';
import { checkBody, checkQuery, validationErrors } from '../../../src/http/request/validate.ts';

/** Messages name the field and what is allowed there. */

const name =
  'must have a visible character, and no control character, line break, bidirectional override or isolate';
const agent = { agentName: 'a', promptId: 'b', promptVersionId: 'c' };
const bodies: [invalid: unknown, message: string, schema?: TSchema][] = [
  [[], 'The body must be an object.'],
  [{ ...agent, tags: 'x' }, 'Field "tags" must be an array.'],
  [{ ...agent, tags: [''] }, 'Field "tags.0" must not be empty.'],
  [{ ...agent, agentName: ' ' }, `Field "agentName" ${name}.`],
  [{ ...agent, agentName: 'Pay\u202Eroll' }, `Field "agentName" ${name}.`],
  [{ ...agent, tags: ['\u200B'] }, `Field "tags.0" ${name}.`],
  [{ ...agent, project: 'a\nb' }, `Field "project" ${name}, or be empty.`],
  [{ ...agent, storeBodies: 1 }, 'Field "storeBodies" must be true or false.'],
  [{ ...agent, project: 1 }, 'Field "project" must be a string or null.'],
  [
    { ...agent, agentConfig: { model: 'x' } },
    'Field "agentConfig.model" must be provider/model, such as openai/gpt-5.5.',
  ],
  [
    { ...agent, agentConfig: { temperature: 3 } },
    'Field "agentConfig.temperature" must be a number from 0 to 2.',
  ],
  [
    { ...agent, rateLimits: { requestsPerDay: '5' } },
    'Field "rateLimits.requestsPerDay" must be a whole number from 0 to 1000000000 or null.',
  ],
  [
    { ...agent, rateLimits: { requestsPerWeek: 5 } },
    'Unknown field "rateLimits.requestsPerWeek". Allowed: requestsPerMinute, requestsPerHour, requestsPerDay.',
  ],
  [
    { name: 'a', definition: { steps: [{ name: 'one', agentId: 'agt_1', agent: 1 }] } },
    'Unknown field "definition.steps.0.agent". Allowed: name, variables, after, when, forEach, onFailure, onUnreadable, agentId, fallback.',
    endpoints.createWorkflow.body,
  ],
  [
    { model: 'a/b', inputPerMillion: '-1', outputPerMillion: 1 },
    'Field "inputPerMillion" must be a dollar amount, such as 2.50, with at most 7 digits before the point and 12 after it.',
    endpoints.putPrice.body,
  ],
  [
    { inputPerMillion: -1, outputPerMillion: 1, model: 'a/b' },
    'Field "inputPerMillion" must be at least 0.',
    endpoints.putPrice.body,
  ],
];
const tool = { server: 'shop', tool: 'refund' };
const alternatives: [fields: object, message: string][] = [
  [
    { tools: [{ ...tool, resultLimit: 0 }] },
    'Field "tools.0.resultLimit" must be a whole number from 1024 to 65536.',
  ],
  [
    { tools: [{ ...tool, approval: 'often' }] },
    'Field "tools.0.approval" must be one of always, never.',
  ],
  [{ tools: [{ ...tool, approval: { if: 'x' } }] }, 'Field "tools.0.approval.when" is missing.'],
  [{ tools: [{ ...tool, bind: { a: 5 } }] }, 'Field "tools.0.bind.a" must be a string.'],
  [{ tools: [{ name: 'a' }, { server: 'shop', safe: true }] }, 'Field "tools.1.tool" is missing.'],
  [
    { tools: [{ ...tool, save: true }] },
    'Unknown field "tools.0.save". Allowed: server, tool, name, description, approval, safe, bind, resultLimit.',
  ],
  [{ tools: [{ name: 'a', parameters: 5 }] }, 'Field "tools.0.parameters" must be an object.'],
  [{ tools: [5] }, 'Field "tools.0" must be an object.'],
  [{ messages: [{ placeholder: 5 }] }, 'Field "messages.0.placeholder" must be a string.'],
  [{ messages: [{ role: 'user', content: 5 }] }, 'Field "messages.0.content" must be a string.'],
  [
    { messages: [{ role: 'user', content: [{ image: 5 }] }] },
    'Field "messages.0.content.0.image" must be a string.',
  ],
];
for (const [fields, message] of alternatives) {
  bodies.push([fields, message, endpoints.createPromptVersion.body]);
}
for (const [invalid, message, schema = AgentInput] of bodies) {
  test(message, () => assert.throws(() => checkBody(schema, invalid), { message }));
}

const queries: [invalid: Record<string, unknown>, message: string, schema?: TObject][] = [
  [{ status: ['success', 'failed'] }, 'Parameter "status" may be given only once.'],
  [{ 'variables.a': ['x', 'y'] }, 'Parameter "variables.a" may be given only once.'],
  [{ q: '' }, 'Parameter "q" must not be empty.'],
  [{ limit: 'x' }, 'Parameter "limit" must be a whole number from 1 to 100.'],
  [
    { costUSDMin: 'x' },
    'Parameter "costUSDMin" must be a dollar amount, such as 0.05, with at most 9 digits before the point and 10 after it.',
  ],
  [{ archived: 'yes' }, 'Parameter "archived" must be true or false.', endpoints.listPrompts.query],
  [{ a: ['1', '2'] }, 'Unknown parameter "a". Allowed: wait.', endpoints.getExecution.query],
];
for (const [invalid, message, schema = endpoints.listExecutions.query] of queries) {
  test(message, () => assert.throws(() => checkQuery(schema, invalid), { message }));
}

test('an unknown field of a definition is reported with the allowed fields', () => {
  const steps = [{ name: 'one', agentId: 'agt_1', forEach: { list: [], concurency: 2 } }];
  const messages = validationErrors(WorkflowDefinitionInput, { steps }).map(
    ({ message }) => message,
  );
  const [message] = messages;
  assert.match(
    message ?? '',
    /^Unknown field "steps\.0\.forEach\.concurency"\. Allowed: .*concurrency, /,
  );
});
