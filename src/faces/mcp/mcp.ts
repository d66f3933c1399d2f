import type { ReadableStream } from 'node:stream/web';
import { createMcpHandler, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ExecuteBody } from '../../core/agent/variables.ts';
import { inlineCharsMax } from '../../core/compute.ts';
import { CallFailure, notFound } from '../../core/failure.ts';
import { toId } from '../../core/id.ts';
import type { Caller } from '../../core/people/caller.ts';
import { inWorkspace } from '../../db/fair-connections.ts';
import { keyLimit } from '../../features/executions/routes/execute-call.ts';
import { limitLists } from '../../features/people/access/count-calls.ts';
import { visibleAgent } from '../../features/people/access/visible-resources.ts';
import { requireWorkflow } from '../../features/workflows/routes/workflows-routes.ts';
import { abortOnDisconnect } from '../../http/connection/disconnect.ts';
import { bodyBytesMax, bodyNamesMax, mcpMessagesMax } from '../../http/contract/contract-limits.ts';
import { holdCallBytes } from '../../http/limits/call-bytes.ts';
import { type CallBytes, readCallBody } from '../../http/request/body.ts';
import { unauthorized } from '../../http/request/credential.ts';
import { admitTool, toolClient } from './call-tool.ts';
import {
  accessFailure,
  baseUrlOf,
  checkOrigin,
  metadataPath,
  requireKey,
  resourceMetadata,
  sendAccessFailure,
} from './mcp-access.ts';
import {
  asJson,
  type McpBody,
  type McpMessage,
  messagesOf,
  readMcpBody,
  readMcpBodyJob,
} from './mcp-body.ts';
import type { McpDeps, McpRequest } from './mcp-request.ts';
import { createMcpServer } from './mcp-server.ts';
import { PacedResponse } from './paced-response.ts';
import { ResponseBudget } from './response-budget.ts';
import { findTool } from './tools.ts';

/**
 * Agents and workflows as tools of the Model Context Protocol, over its transport for HTTP: each message is a request of its
 * own, and nothing is kept between two requests. The library speaks the protocol. Here, a key is required, and calls of tools
 * go through admission.
 */
export function mcpRoutes(app: FastifyInstance, deps: McpDeps): void {
  const handle = createHandlers(deps.version);
  for (const path of paths) {
    app.post<{ Params: { slug?: string } }>(path, async (request, reply) => {
      const metadataUrl = baseUrlOf(request, deps.publicUrl) + metadataPath + pathOf(request);
      try {
        await serve(deps, handle, request, reply);
      } catch (error) {
        if (!(error instanceof CallFailure)) throw error;
        sendAccessFailure(request, reply, error, metadataUrl);
      }
      return reply;
    });
  }
  for (const path of ['', ...paths]) {
    app.get<{ Params: { slug?: string } }>(metadataPath + path, (request) =>
      resourceMetadata(baseUrlOf(request, deps.publicUrl), pathOf(request)),
    );
  }
}

const paths = ['/mcp', '/mcp/:slug'];

type SlugRequest = FastifyRequest<{ Params: { slug?: string } }>;

function pathOf({ params: { slug } }: SlugRequest): string {
  return slug === undefined ? '/mcp' : `/mcp/${encodeURIComponent(slug)}`;
}

type Handle = (mcp: McpRequest, request: Request, body: unknown) => Promise<Response>;

/** Calls of tools are answered as a stream from their start, everything else as one JSON if possible. */
function createHandlers(version: string): Handle {
  const create = (responseMode: 'sse' | 'auto') =>
    createMcpHandler(
      ({ era, authInfo }) => createMcpServer(authInfo?.extra?.mcp as McpRequest, era, version),
      { responseMode },
    );
  const handlers = { sse: create('sse'), auto: create('auto') };
  return (mcp, request, body) => {
    const mode = mcp.readsStreams && messagesOf(body).some(isToolCall) ? 'sse' : 'auto';
    const authInfo = { token: '', clientId: mcp.caller.id, scopes: ['execute'], extra: { mcp } };
    return handlers[mode].fetch(request, { authInfo, parsedBody: body });
  };
}

async function serve(
  deps: McpDeps,
  handle: Handle,
  request: SlugRequest,
  reply: FastifyReply,
): Promise<void> {
  const keyHash = requireKey(request, deps.publicUrl);
  const raw = await readCallBody(request, keyLimit(deps, request, keyHash));
  // Follows the body, which may take long: the key may be revoked meanwhile.
  const caller = await deps.reads.caller(keyHash);
  checkOrigin(request, reply, caller, deps.publicUrl);
  if (!caller) throw unauthorized();
  request.server.bodyBytes.assign(request, caller.workspaceId);
  deps.onKeyUsed(keyHash);
  const failure = accessFailure(caller);
  if (failure && raw.kind !== 'text') throw failure;
  const body = await readSent(deps, caller, sentOf(raw));
  await inWorkspace(caller.workspaceId, () =>
    answer(deps, handle, { request, reply, caller, keyHash, body }),
  );
}

interface Received {
  readonly request: SlugRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
  readonly keyHash: string;
  readonly body: McpBody;
}

async function readSent(
  { compute }: McpDeps,
  { workspaceId }: Caller,
  sent: string | Uint8Array,
): Promise<McpBody> {
  const body =
    sent.length <= inlineCharsMax
      ? readMcpBody(sent)
      : await compute.run(workspaceId, readMcpBodyJob, sent, sent.length);
  if (body) return body;
  const message = `Everything but the arguments of calls must have at most ${bodyBytesMax} bytes and ${bodyNamesMax} different names of fields.`;
  throw new CallFailure('BODY_TOO_LARGE', message);
}

async function answer(
  deps: McpDeps,
  handle: Handle,
  { request, reply, caller, keyHash, body }: Received,
): Promise<void> {
  const { parsed } = body;
  // The library refuses a longer batch as a whole.
  const messages = messagesOf(parsed).slice(0, mcpMessagesMax);
  const closing = abortOnDisconnect(reply);
  const mcp: McpRequest = {
    deps,
    caller,
    keyHash,
    request,
    baseUrl: baseUrlOf(request, deps.publicUrl),
    slug: request.params.slug ?? null,
    body,
    readsStreams: /text\/(?:event-stream|\*)/i.test(request.headers.accept ?? ''),
    budget: new ResponseBudget(),
    response: new PacedResponse(),
    closed: closing.signal,
  };
  const failure = accessFailure(caller);
  if (failure) throw await refusalOf(mcp, messages, failure);
  // The library keeps the request until its response ends.
  reply.raw.once('close', holdCallBytes(deps.callBytes, caller.workspaceId, 2 * body.chars));
  if (!messages.some(isToolCall)) await requireTool(mcp);
  const lists = messages.filter(({ method }) => method === 'tools/list').length;
  if (lists > 0) await limitLists(deps, caller, reply, lists);
  for (const message of messages) {
    if (isCancellation(message)) {
      deps.openCalls.cancel(toolClient(mcp), message.params?.requestId);
    }
  }
  const { signal } = closing;
  const forwarded = new Request('http://cueline/mcp', {
    // It reads a body only if it is not given one that is parsed.
    method: 'POST',
    headers: protocolHeaders(request),
    body: '',
    signal,
  });
  const response = await handle(mcp, forwarded, parsed);
  sendResponse(reply, mcp.response, mcp.readsStreams ? response : await asJson(response, parsed));
}

function sentOf(raw: CallBytes): string | Uint8Array {
  switch (raw.kind) {
    case 'text':
      return raw.text;
    case 'bytes':
      return raw.bytes;
    case 'none':
      return '';
    case 'too-large':
      throw new CallFailure('BODY_TOO_LARGE', raw.message);
    case 'unsupported':
      throw new CallFailure('UNSUPPORTED_MEDIA_TYPE', raw.message);
    case 'malformed':
      throw new CallFailure('MALFORMED_BODY', raw.message);
  }
}

function isToolCall({ method }: McpMessage): boolean {
  return method === 'tools/call';
}

/** Of revisions with a handshake: in later ones, a client closes the response instead. */
function isCancellation({ id, method, params }: McpMessage): boolean {
  if (id !== undefined) return false;
  return method === 'notifications/cancelled' && !params?._meta?.[PROTOCOL_VERSION_META_KEY];
}

/**
 * The refusal of a caller that may not execute. Its calls of tools are admitted all the same, so that they count and leave
 * records like other refused calls.
 */
async function refusalOf(
  mcp: McpRequest,
  messages: readonly McpMessage[],
  failure: CallFailure,
): Promise<CallFailure> {
  for (const { params } of messages.filter(isToolCall)) {
    if (typeof params?.name !== 'string') continue;
    const admitted = await admitTool(mcp, {
      era: 'legacy',
      name: params.name,
      takeBody: () => notRead,
    });
    // It was permitted meanwhile, but nobody would read the result.
    if (admitted.kind === 'accepted') await admitted.tracked.cancel();
    else if (admitted.code === 'RATE_LIMIT_EXCEEDED') {
      return new CallFailure(admitted.code, admitted.message, { ...admitted.fields });
    }
  }
  return failure;
}

/** A caller that may not call tools is refused before their arguments matter. */
const notRead: ExecuteBody = { kind: 'absent', message: 'The arguments were not read.' };

/** Throws 404 unless the key sees the agent or workflow in the path. */
async function requireTool({ deps, caller, slug }: McpRequest): Promise<void> {
  if (slug === null) return;
  const tool = await findTool(deps.db, caller, slug);
  if (!tool) throw notFound('agent or workflow');
  if (tool.kind === 'agent') await visibleAgent(deps.reads, caller, toId('agent', tool.id));
  else await requireWorkflow(deps.db, caller, toId('workflow', tool.id));
}

/** The headers that the protocol gives a meaning. The library refuses clients that do not name both forms of responses. */
function protocolHeaders({ headers }: FastifyRequest): Headers {
  const forwarded = new Headers({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  });
  for (const name of ['mcp-protocol-version', 'mcp-method', 'mcp-name']) {
    const value = headers[name];
    if (value !== undefined) forwarded.set(name, String(value));
  }
  return forwarded;
}

function sendResponse(
  reply: FastifyReply,
  paced: PacedResponse,
  { status, headers, body }: Response,
): void {
  reply.code(status);
  for (const name of ['content-type', 'x-accel-buffering']) {
    const value = headers.get(name);
    if (value !== null) reply.header(name, value);
  }
  if (body === null) reply.send();
  else reply.send(paced.read(body as ReadableStream<Uint8Array>));
}
