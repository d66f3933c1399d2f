import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ExecuteBody, UnparsedBody } from '../../../core/agent/variables.ts';
import { type Compute, inlineCharsMax } from '../../../core/compute.ts';
import { CallFailure, requireFound } from '../../../core/failure.ts';
import { fromId, toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { generateWebhookSecret } from '../../../core/standard-webhooks.ts';
import { bodyBytesMax } from '../../../http/contract/contract-limits.ts';
import { parseBody, type RawBody, readBody } from '../../../http/request/body.ts';
import { pageOf, readPage } from '../../../http/request/page-query.ts';
import { asCallFailure, errorResponse } from '../../../http/response/error-response.ts';
import { route, routePath, send } from '../../../http/route.ts';
import { parseIdempotencyKey } from '../../executions/routes/execute-call.ts';
import { limitInMinute } from '../../people/access/count-calls.ts';
import {
  requirePermission,
  requireWholeWorkspace,
} from '../../people/access/require-permission.ts';
import * as contract from '../contract/webhooks-contract.ts';
import {
  checkSignature,
  parseEvent,
  parseEventJob,
  readSignedHeaders,
  type SignedHeaders,
  slackChallenge,
} from '../rules/webhook.ts';
import { readWebhookLog, type WebhookLogRow } from '../statements/webhook-log.ts';
import * as store from '../statements/webhooks.ts';
import * as flow from '../verbs/change-webhook.ts';
import { createWebhookLog, type LoggedEvent, type WebhookLog } from '../verbs/log-event.ts';
import type { StartCall } from '../verbs/start-call.ts';
import type { WorkflowDeps } from './workflow-deps.ts';
import { startedResponse } from './workflow-runs-routes.ts';
import { requireWorkflow } from './workflows-routes.ts';

/** Inbound webhooks: manages them and receives their events. */
export function webhookRoutes(app: FastifyInstance, deps: WorkflowDeps): void {
  const { db } = deps;
  const log = createWebhookLog(db, (err) => app.log.warn({ err }, 'webhook event not logged'));
  eventRoute(app, deps, log);

  route(app, deps, contract.createWebhook, async ({ ids, body, caller }) => {
    requireWholeWorkspace(caller);
    requirePermission(caller, 'execute');
    const input = { signature: 'standard', ...body } as const;
    return issued(await flow.createWebhook(deps, caller, ids.workflowId, input));
  });

  route(app, deps, contract.listWebhooks, async ({ ids, query, caller }) => {
    const page = readPage(query);
    const workflow = await requireWorkflow(db, caller, ids.workflowId);
    const { rows, total } = await store.listWebhooks(db, workflow.id, page);
    return { result: pageOf('webhooks', page, { rows: rows.map(withPath), total }) };
  });

  route(app, deps, contract.rotateWebhook, async ({ ids, body, caller }) => {
    requireWholeWorkspace(caller);
    requirePermission(caller, 'execute');
    const { secret } = body;
    return issued(await flow.rotateWebhook(deps, caller, await webhookKey(caller, ids), secret));
  });

  route(app, deps, contract.deleteWebhook, async ({ ids, caller }) => {
    requireWholeWorkspace(caller);
    await flow.deleteWebhook(deps, caller, await webhookKey(caller, ids));
    return { result: null };
  });

  route(app, deps, contract.getWebhookLog, async ({ ids, caller }) => {
    const { workflowId, id } = await webhookKey(caller, ids);
    const found = await store.findWebhook(db, workflowId, id);
    const webhook = requireFound(found, 'webhook', 'workflow');
    await log.written();
    const rows = await readWebhookLog(db, webhook.id);
    return { result: { events: rows.map(loggedEvent) } };
  });

  async function webhookKey(caller: Caller, ids: { workflowId: string; webhookId: string }) {
    const workflow = await requireWorkflow(db, caller, ids.workflowId);
    return { workflowId: workflow.id, id: ids.webhookId };
  }

  function issued({ row, secret }: flow.IssuedWebhook) {
    return { result: { ...withPath(row), secret } };
  }

  function withPath(row: store.WebhookRow) {
    return { ...row, path: `${app.basePath}/api/v1/webhooks/${toId('webhook', row.id)}` };
  }
}

function loggedEvent({ runId, ...row }: WebhookLogRow) {
  const outcome = row.code === null ? 'received' : 'rejected';
  return { ...row, outcome, workflowRunId: runId } as const;
}

type EventRequest = FastifyRequest<{ Params: { webhookId: string } }>;

function eventRoute(app: FastifyInstance, deps: WorkflowDeps, log: WebhookLog): void {
  const { db, sealKey } = deps;
  // An unknown webhook takes as long to reject as a wrong signature.
  const decoy = generateWebhookSecret();

  app.post<{ Params: { webhookId: string } }>(
    routePath(contract.receiveWebhook),
    async (request, reply) => {
      const id = fromId('webhook', request.params.webhookId);
      const { target, nowMs } = id
        ? await store.findWebhookTarget(db, id)
        : { target: null, nowMs: 0 };
      const secret = target && flow.openSecret(sealKey, target);
      const signed = readSignedHeaders(target?.signature ?? 'standard', request.headers);
      const check = checkSignature(secret ?? decoy, signed);
      // Verified before anything is said about the body: an unsigned event learns nothing.
      const body = await readBody(request, { bytesMax: signedBytesMax, onChunk: check.update });
      const result = check.result(nowMs);
      if (!target || secret === null || result !== 'valid') {
        const isLate = target && secret !== null && result === 'outOfRange';
        const failure = new CallFailure('UNAUTHORIZED', isLate ? outOfRange : notSigned);
        if (target) log.add({ ...unsigned, webhookId: target.id, atMs: nowMs, failure });
        throw failure;
      }
      const event = { webhookId: target.id, atMs: nowMs, eventId: signed.eventId ?? null };
      try {
        const received = await receive(deps, request, reply, { target, signed, body });
        log.add({ ...event, isExpected: true, signed: true, ...received });
      } catch (error) {
        const failure = asCallFailure(error);
        const status = failure ? errorResponse(failure, request.id).status : 500;
        // Whatever else is wrong with a signed event, its sender is within the limit.
        const isExpected = failure?.code !== 'RATE_LIMIT_EXCEEDED';
        if (failure) log.add({ ...event, isExpected, signed: true, status, runId: null, failure });
        throw error;
      }
      return reply;
    },
  );
}

const unsigned = {
  ...{ isExpected: false, signed: false, status: 401 },
  ...{ eventId: null, runId: null },
} as const;

interface SignedEvent {
  readonly target: store.WebhookTarget;
  readonly signed: SignedHeaders;
  readonly body: RawBody;
}

/** Starts a workflow run with a signed event, and responds. */
async function receive(
  { db, compute, workflowStarter, webhookPerMinute }: WorkflowDeps,
  request: EventRequest,
  reply: FastifyReply,
  { target, signed, body }: SignedEvent,
): Promise<Pick<LoggedEvent, 'status' | 'runId' | 'failure'>> {
  if (body.kind !== 'text' && body.kind !== 'none') parseBody(body);
  // Counts only signed events, so that a third party cannot exhaust the limit. An unsigned event costs one read. A limit per
  // network is not needed, because a signature cannot be guessed, and it would affect senders that share a network.
  const limited = { id: target.id, scope: 'webhook', limit: webhookPerMinute } as const;
  await limitInMinute(db, reply, { ...limited, calls: 'events' });
  const payload = body.kind === 'text' ? body.text : '';
  const challenge = slackChallenge(target.signature, payload);
  if (challenge !== null) {
    send(reply, { status: 200, body: { challenge } });
    return { status: 200, runId: null, failure: null };
  }
  const { id, workspaceId, createdBy: userId } = target;
  const start: StartCall = {
    credential: { kind: 'trigger', id, workspaceId, userId },
    workflowId: target.workflowId,
    trigger: 'webhook',
    body: eventBody(compute, payload),
    ...parseIdempotencyKey(signed.eventId, signed.eventIdHeader),
  };
  const started = await workflowStarter.start(start);
  const response = startedResponse(started, request);
  // The sender has no key, so it cannot read the location.
  const { location: _, ...headers } = response.headers ?? {};
  send(reply, { ...response, headers });
  const { status = 200 } = response;
  if (started.kind === 'refused') return { status, runId: null, failure: started };
  return { status, runId: started.runId, failure: null };
}

const notSigned = 'The signature of the event is not valid.';
const outOfRange =
  "The timestamp of the event differs from the server's clock by more than five minutes. It is in seconds since 1970.";
/** A larger event counts as not signed. Up to here a signed one that is too large learns why. */
const signedBytesMax = 8 * bodyBytesMax;

function eventBody(compute: Compute, payload: string): ExecuteBody | UnparsedBody {
  if (payload.length <= inlineCharsMax) return parseEvent(payload);
  return {
    kind: 'unparsed',
    chars: payload.length,
    parse: (workspaceId) => compute.run(workspaceId, parseEventJob, payload),
  };
}
