import type { Prepare } from './calls.ts';
import { agentCalls } from './calls-agents.ts';
import { preflight } from './preflight.ts';

/** Agents over the OpenAI API. Nothing executes here, so no call may wait for its end. */

const messages = [{ role: 'user', content: 'you' }];

function ofModel(path: string, body: object): Prepare {
  return async (fixture, note) => {
    const { agentId } = await fixture.agent(note);
    return { path, agents: [agentId], body: { model: agentId, ...body } };
  };
}

/** As the call of an execution below the path of its agent. */
function ofResponse(call: string, below = ''): Prepare {
  return async (fixture, note, caller) => {
    const prepared = await agentCalls[call]?.(fixture, note, caller);
    if (!prepared) throw new Error(`${call} is not a call.`);
    const [executionId = ''] = /exe_\w+/.exec(prepared.path) ?? [];
    return { ...prepared, path: `/v1/responses/${executionId}${below}` };
  };
}

const execution = '/api/v1/agents/{agentId}/executions/{executionId}';

export const openaiCalls: Readonly<Record<string, Prepare>> = {
  'POST /v1/responses': ofModel('/v1/responses', { input: 'you', background: true }),
  async 'POST /v1/chat/completions'(fixture, note, caller) {
    const body = { messages, stream: true };
    const call = await ofModel('/v1/chat/completions', body)(fixture, note, caller);
    // Disconnecting then cancels nothing. A late cancellation would look like a change by the calls of the next row.
    return { ...call, headers: { 'idempotency-key': 'kept' }, isEndless: true };
  },
  'GET /v1/responses/{responseId}': ofResponse(`GET ${execution}`),
  'POST /v1/responses/{responseId}/cancel': ofResponse(`GET ${execution}`, '/cancel'),
  'DELETE /v1/responses/{responseId}': ofResponse(`DELETE ${execution}`),
  'GET /v1/responses/{responseId}/input_items': ofResponse(`GET ${execution}`, '/input_items'),
  'OPTIONS /v1/*': preflight(async () => ({ path: '/v1/models' })),
  async 'GET /v1/models'(fixture, note) {
    const { agentId } = await fixture.agent(note);
    return { path: '/v1/models', agents: [agentId] };
  },
  async 'GET /v1/models/{model}'(fixture, note) {
    const { agentId } = await fixture.agent(note);
    return { path: `/v1/models/${agentId}`, agents: [agentId] };
  },
};
