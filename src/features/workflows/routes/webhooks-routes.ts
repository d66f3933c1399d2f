import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ExecuteBody, UnparsedBody } from '../../../core/agent/variables.ts';
import { type Compute, inlineCharsMax } from '../../../core/compute.ts';
import { CallFailure } from '../../../core/failure.ts';
import { fromId, toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { generateWebhookSecret } from '../../../core/standard-webhooks.ts';
import { bodyBytesMax } from '../../../http/contract/contract-limits.ts';
import { parseBody, readBody } from '../../../http/request/body.ts';
import { pageOf, readPage } from '../../../http/request/page-query.ts';
import { route, routePath, send } from '../../../http/route.ts';
import { parseIdempotencyKey } from '../../executions/routes/execute-call.ts';
import { limitInMinute } from '../../people/access/count-calls.ts';
import {
  requirePermission,
  requireWholeWorkspace,
} from '../../people/access/require-permission.ts';
import * as contract from '../contract/webhooks-contract.ts';
import { checkSignature, parseEvent, parseEventJob } from '../rules/webhook.ts';
import * as store from '../statements/webhooks.ts';
import * as flow from '../verbs/change-webhook.ts';
import type { StartCall } from '../verbs/start-call.ts';
import type { WorkflowDeps } from './workflow-deps.ts';
import { startedResponse } from './workflow-runs-routes.ts';
import { requireWorkflow } from './workflows-routes.ts';

/** Inbound webhooks: manages them and receives their events. */
export function webhookRoutes(app: FastifyInstance, deps: WorkflowDeps): void {
  const { db } = deps;
  eventRoute(app, deps);

  route(app, deps, contract.createWebhook, async ({ ids, body, caller }) => {
    requireWholeWorkspace(caller);
    requirePermission(caller, 'execute');
    return issued(await flow.createWebhook(deps, caller, ids.workflowId, body.name));
  });

  route(app, deps, contract.listWebhooks, async ({ ids, query, caller }) => {
    const page = readPage(query);
    const workflow = await requireWorkflow(db, caller, ids.workflowId);
    const { rows, total } = await store.listWebhooks(db, workflow.id, page);
    return { result: pageOf('webhooks', page, { rows: rows.map(withPath), total }) };
  });

  route(app, deps, contract.rotateWebhook, async ({ ids, caller }) => {
    requireWholeWorkspace(caller);
    requirePermission(caller, 'execute');
    return issued(await flow.rotateWebhook(deps, caller, await webhookKey(caller, ids)));
  });

  route(app, deps, contract.deleteWebhook, async ({ ids, caller }) => {
    requireWholeWorkspace(caller);
    await flow.deleteWebhook(deps, caller, await webhookKey(caller, ids));
    return { result: null };
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

type EventRequest = FastifyRequest<{ Params: { webhookId: string } }>;

function eventRoute(app: FastifyInstance, deps: WorkflowDeps): void {
  const { db, compute, sealKey, workflowStarter, webhookPerMinute } = deps;
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
      const eventId = readHeader(request, 'id');
      const check = checkSignature(secret ?? decoy, {
        id: eventId,
        timestamp: readHeader(request, 'timestamp'),
        signature: readHeader(request, 'signature'),
      });
      // Verified before anything is said about the body: an unsigned event learns nothing.
      const body = await readBody(request, { bytesMax: signedBytesMax, onChunk: check.update });
      const result = check.result(nowMs);
      if (!target || secret === null || result !== 'valid') {
        const isLate = target && secret !== null && result === 'outOfRange';
        throw new CallFailure('UNAUTHORIZED', isLate ? outOfRange : notSigned);
      }
      if (body.kind !== 'text' && body.kind !== 'none') parseBody(body);
      await limitEvents(target.id, reply);
      const start: StartCall = {
        credential: {
          kind: 'trigger',
          id: target.id,
          workspaceId: target.workspaceId,
          userId: target.createdBy,
        },
        workflowId: target.workflowId,
        trigger: 'webhook',
        body: eventBody(compute, body.kind === 'text' ? body.text : ''),
        ...parseIdempotencyKey(eventId, 'webhook-id'),
      };
      const response = startedResponse(await workflowStarter.start(start), request);
      // The sender has no key, so it cannot read the location.
      const { location: _, ...headers } = response.headers ?? {};
      send(reply, { ...response, headers });
      return reply;
    },
  );

  /**
   * Counts only signed events, so that a third party cannot exhaust the limit. An unsigned event costs one read. A limit
   * per network is not needed, because a signature cannot be guessed, and it would affect senders that share a network.
   */
  function limitEvents(id: string, reply: FastifyReply): Promise<void> {
    const limited = { id, scope: 'webhook', limit: webhookPerMinute, calls: 'events' } as const;
    return limitInMinute(db, reply, limited);
  }
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

/** Svix, from which the standard comes, also sends its own names. */
function readHeader({ headers }: EventRequest, name: string): string | undefined {
  const value = headers[`webhook-${name}`] ?? headers[`svix-${name}`];
  return typeof value === 'string' ? value : undefined;
}
