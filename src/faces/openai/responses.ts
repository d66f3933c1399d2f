import type { FastifyInstance } from 'fastify';
import type { Execution } from '../../core/execution/execution-fields.ts';
import { deniedMessage } from '../../core/execution/refusal-messages.ts';
import { CallFailure } from '../../core/failure.ts';
import { toId } from '../../core/id.ts';
import { actorOf } from '../../core/people/audit.ts';
import type { Caller } from '../../core/people/caller.ts';
import type { AgentView } from '../../engine/admit/caller-reads.ts';
import { readExecutionStream } from '../../engine/stream/read-stream.ts';
import { readWithinBytes } from '../../engine/stream/read-within-bytes.ts';
import { findSlug } from '../../features/agents/statements/models.ts';
import type { ApiDeps } from '../../features/api-deps.ts';
import { deleteExecution } from '../../features/history/verbs/delete-execution.ts';
import { mayRead } from '../../features/people/access/visible-resources.ts';
import { abortOnDisconnect } from '../../http/connection/disconnect.ts';
import { allowAgentOrigins } from '../../http/cors.ts';
import { EventStream, eventStreamHeaders } from '../../http/response/event-stream.ts';
import { emptyStream } from '../../http/response/stream-response.ts';
import { type Context, type HandlerResponse, route, routePath, send } from '../../http/route.ts';
import { type AgentCall, callAgent, responseNotFound, type SeenExecution } from './call-agent.ts';
import { findResponse } from './find-response.ts';
import { inputItemsPage } from './input-items.ts';
import { lastTurnOf } from './last-turn.ts';
import * as contract from './openai.ts';
import { responseWire, type ShownCall } from './response-wire.ts';
import { sendCallStream } from './stream-call.ts';
import { beginning, responseEvents } from './stream-responses.ts';

/** The Responses API: a response is an execution. */
export function responsesRoutes(app: FastifyInstance, deps: ApiDeps): void {
  app.post(routePath(contract.createResponse), async (request, reply) => {
    const agentCall = await callAgent(deps, request, reply, 'responses');
    const { call, caller, settings } = agentCall;
    const { model, conversation, isBackground, isStream, prompt = null } = call;
    const shown: ShownCall = { caller, model, isBackground, prompt, conversation, settings };
    if (isStream) {
      const { executionId } = agentCall;
      const begin = await readBeginning(agentCall, shown);
      sendCallStream(request, reply, agentCall, (signal, onEnd) => {
        const events = agentCall.events(signal);
        return responseEvents({ executionId, begin, shown, events, after: -1, onEnd });
      });
      return reply;
    }
    let seen: SeenExecution | null = null;
    try {
      seen = isBackground ? await agentCall.read() : await agentCall.end();
    } finally {
      await agentCall.close(seen !== null);
    }
    if (seen) {
      const body = responseWire(seen.row, { ...shown, caller: seen.viewer });
      send(reply, { status: 200, body });
    }
    return reply;
  });

  route(app, deps, contract.getResponse, async (context) => {
    const { caller, query } = context;
    const isHead = context.request.method === 'HEAD';
    if (query.stream && !isHead) return storedStream(deps, context);
    const row = await requireResponse(deps, context);
    if (query.stream) return { status: 200, body: emptyStream(), headers: eventStreamHeaders };
    return { status: 200, body: responseWire(row, await shownLater(deps, caller, row)) };
  });

  route(app, deps, contract.cancelResponse, async (context) => {
    const { caller } = context;
    const row = await requireResponse(deps, context, mayCancel);
    if (!mayCancel(caller, row)) {
      throw new CallFailure('PERMISSION_DENIED', deniedMessage(caller, 'cancel'));
    }
    await deps.canceler.cancel(row.id);
    const ended = await requireResponse(deps, context, mayCancel);
    const shown = mayRead(caller, ended) ? ended : withoutAnswer(ended);
    return { status: 200, body: responseWire(shown, await shownLater(deps, caller, ended)) };
  });

  route(app, deps, contract.deleteResponse, async (context) => {
    // Deleting a record takes no right to read it.
    const { id, agentId, status } = await requireResponse(deps, context, () => true);
    if (status === 'processing') {
      const message = 'The response is in progress. Cancel it before you delete it.';
      throw new CallFailure('CONFLICT', message);
    }
    await deleteExecution(deps.singlePipelines, actorOf(context.caller), { id, agentId });
    return { status: 200, body: { id: toId('execution', id), object: 'response', deleted: true } };
  });

  route(app, deps, contract.listResponseInputItems, async (context) => {
    const { caller, query } = context;
    const row = await requireResponse(deps, context);
    if (!caller.rights.includes('read')) {
      throw new CallFailure('PERMISSION_DENIED', deniedMessage(caller, 'read'));
    }
    return { status: 200, body: await inputItemsPage(deps.db, row, query) };
  });
}

/** A function of its own: its caller would keep the whole record. */
async function readBeginning(agentCall: AgentCall, shown: ShownCall): Promise<() => object> {
  try {
    const { row } = await agentCall.read();
    return beginning(row, shown);
  } catch (error) {
    await agentCall.close(false);
    throw error;
  }
}

/** The events of a response that was created before. Leaving changes nothing. */
async function storedStream(
  deps: ApiDeps,
  context: Context<typeof contract.getResponse>,
): Promise<HandlerResponse> {
  const { caller, query, request } = context;
  const { bytes } = deps.streams;
  const { workspaceId } = caller;
  const stopping = new AbortController();
  const { agentId, executionId, shown, begin, free } = await readStored(deps, context);
  stopping.signal.addEventListener('abort', free, { once: true });
  try {
    const release = deps.shares.streams.take(workspaceId);
    stopping.signal.addEventListener('abort', release, { once: true });
  } catch (error) {
    stopping.abort();
    throw error;
  }
  const source = { agentId, executionId, workspaceId };
  const events = lastTurnOf(readExecutionStream(deps, source, null, stopping.signal));
  const after = query.starting_after ?? -1;
  const stream = responseEvents({ executionId, begin, onBegun: free, shown, events, after });
  // The key may be revoked, or the agent hidden, while the stream is open.
  const check = async () => {
    const viewer = await deps.authenticator.authenticate(request, contract.getResponse);
    await requireResponse(deps, { ...context, caller: viewer });
  };
  const body = new EventStream(stream, request, { stopping, check, bytes });
  return { status: 200, body, headers: eventStreamHeaders };
}

/** What a stream begins with, held until the client has it. */
async function readStored(deps: ApiDeps, context: Context<typeof contract.getResponse>) {
  const { caller, reply } = context;
  const { signal } = abortOnDisconnect(reply);
  const reading = { bytes: deps.streams.bytes, workspaceId: caller.workspaceId, signal };
  const counted = await readWithinBytes(reading, () => requireResponse(deps, context));
  if (!counted) throw new CallFailure('UNAVAILABLE', 'The server shuts down. Try again.');
  const { value: row, free } = counted;
  try {
    const shown = await shownLater(deps, caller, row);
    const begin = beginning(row, shown);
    return { agentId: row.agentId, executionId: row.id, shown, begin, free };
  } catch (error) {
    free();
    throw error;
  }
}

/** The execution, if the caller may read it. Whatever it may not read does not exist. */
async function requireResponse(
  deps: ApiDeps,
  context: Pick<Context<typeof contract.getResponse>, 'params' | 'caller' | 'request' | 'reply'>,
  mayAccess: (caller: Caller, row: Execution) => boolean = () => false,
): Promise<Execution> {
  const { params, caller } = context;
  const onAgent = (agent: AgentView) => allowAgentOrigins(context, agent);
  const row = await findResponse(deps, caller, params.responseId, { onAgent, mayAccess });
  if (!row) throw responseNotFound();
  return row;
}

/** A key may cancel what it started. */
function mayCancel(caller: Caller, { apiKeyId }: Execution): boolean {
  return caller.rights.includes('cancel') || apiKeyId === caller.id;
}

function withoutAnswer(row: Execution): Execution {
  const reasoning = { reasoningText: null, assistantMessage: null };
  const answer = { output: null, outputJson: null, toolCalls: null, refusalText: null };
  return { ...row, ...answer, ...reasoning };
}

/** The call of a response that is read later. */
async function shownLater({ db }: ApiDeps, caller: Caller, row: Execution): Promise<ShownCall> {
  const model = (await findSlug(db, row.agentId)) ?? toId('agent', row.agentId);
  const isBackground = row.background === true;
  return { caller, model, isBackground, prompt: null, conversation: null, settings: null };
}
