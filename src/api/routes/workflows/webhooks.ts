import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as contract from '../../../contract/workflows/webhooks.ts';
import { type ExecuteBody, parseExecuteBody } from '../../../core/agent/variables.ts';
import type { Caller } from '../../../core/execution/caller.ts';
import { CallFailure } from '../../../core/failure.ts';
import { fromId, toId } from '../../../core/id.ts';
import { generateWebhookSecret, isSigned } from '../../../core/workflow/webhook.ts';
import * as flow from '../../../flow/workflow/change-webhook.ts';
import type { StartCall } from '../../../flow/workflow/start-workflow.ts';
import * as store from '../../../store/workflow/webhooks.ts';
import { requireExecute, requireWholeWorkspace } from '../../access/require-permission.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { parseBody, readBody } from '../../http/body.ts';
import { limitInMinute } from '../../http/minute-limit.ts';
import { pageResponse, readPage } from '../../http/page.ts';
import { route, routePath, send } from '../../http/route.ts';
import { idempotencyOf } from '../executions/execute-call.ts';
import { startedResponse } from './workflow-runs.ts';
import { foundWorkflow } from './workflows.ts';

/** Inbound webhooks: managing them, and the events that come in. */
export function webhookRoutes(app: FastifyInstance, parts: ApiDeps): void {
  const { db } = parts;
  receive(app, parts);

  route(app, parts, contract.createWebhook, async ({ params, body, caller }) => {
    requireWholeWorkspace(caller);
    requireExecute(caller);
    const workflowId = fromId('workflow', params.workflowId);
    return issued(201, await flow.createWebhook(parts, caller, workflowId, body.name));
  });

  route(app, parts, contract.listWebhooks, async ({ params, query, caller }) => {
    const page = readPage(query);
    const workflow = await foundWorkflow(db, caller, params.workflowId);
    const { rows, total } = await store.listWebhooks(db, workflow.id, page);
    return pageResponse('webhooks', rows.map(webhookWire), { ...page, total });
  });

  route(app, parts, contract.rotateWebhook, async ({ params, caller }) => {
    requireWholeWorkspace(caller);
    requireExecute(caller);
    return issued(200, await flow.rotateWebhook(parts, caller, await placeOf(caller, params)));
  });

  route(app, parts, contract.deleteWebhook, async ({ params, caller }) => {
    requireWholeWorkspace(caller);
    await flow.deleteWebhook(parts, caller, await placeOf(caller, params));
    return { status: 204, body: null };
  });

  async function placeOf(caller: Caller, params: { workflowId: string; webhookId: string }) {
    const workflow = await foundWorkflow(db, caller, params.workflowId);
    return { workflowId: workflow.id, id: fromId('webhook', params.webhookId) };
  }
}

type Received = FastifyRequest<{ Params: { webhookId: string } }>;

function receive(app: FastifyInstance, parts: ApiDeps): void {
  const { db, sealKey, workflowStarter, webhookPerMinute } = parts;
  // Whoever names no webhook waits as long as whoever names one.
  const decoy = generateWebhookSecret();

  app.post<{ Params: { webhookId: string } }>(
    routePath(contract.receiveWebhook),
    async (request, reply) => {
      const body = await readBody(request);
      // Says nothing of the webhook.
      if (body.kind !== 'text' && body.kind !== 'none') parseBody(body);
      const id = fromId('webhook', request.params.webhookId);
      const { target, nowMs } = id
        ? await store.findWebhookTarget(db, id)
        : { target: null, nowMs: 0 };
      const secret = target && flow.openSecret(sealKey, target);
      const call = {
        id: headerOf(request, 'webhook-id'),
        timestamp: headerOf(request, 'webhook-timestamp'),
        signature: headerOf(request, 'webhook-signature'),
        payload: body.kind === 'text' ? body.text : '',
      };
      const holds = isSigned(secret ?? decoy, call, nowMs);
      if (!target || secret === null || !holds) {
        throw new CallFailure('UNAUTHORIZED', 'The signature of the event does not hold.');
      }
      await limit(target.id, reply);
      const start: StartCall = {
        credential: {
          kind: 'trigger',
          id: target.id,
          workspaceId: target.workspaceId,
          userId: target.createdBy,
        },
        workflowId: target.workflowId,
        trigger: 'webhook',
        body: inputOf(call.payload),
        ...idempotencyOf(call.id, 'webhook-id'),
      };
      const answer = startedResponse(await workflowStarter.start(start), request.id);
      // There is nothing to read at the end of it without a key.
      const { location: _, ...headers } = answer.headers ?? {};
      send(reply, { ...answer, headers });
      return reply;
    },
  );

  /**
   * Only what is signed counts, so nobody else can use up the minute. What is not costs a read and no write: there is
   * nothing to be guessed, and a bound by network would stand in the way of senders who share one.
   */
  function limit(id: string, reply: FastifyReply): Promise<void> {
    const limited = { id, scope: 'webhook', limit: webhookPerMinute, calls: 'events' } as const;
    return limitInMinute(db, reply, limited);
  }
}

/** The body as a whole is the input. */
function inputOf(payload: string): ExecuteBody {
  let event: unknown;
  try {
    event = JSON.parse(payload);
  } catch {
    return { kind: 'malformed', message: 'The body is not valid JSON.' };
  }
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    return { kind: 'invalid', message: 'The body must be a JSON object.', variable: null };
  }
  return parseExecuteBody(`{"input":${payload}}`, 'input');
}

function headerOf({ headers }: Received, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

function issued(status: 200 | 201, { row, secret }: flow.IssuedWebhook) {
  return { status, body: { ...webhookWire(row), secret } };
}

function webhookWire(row: store.WebhookRow): contract.Webhook {
  const webhookId = toId('webhook', row.id);
  return {
    webhookId,
    workflowId: toId('workflow', row.workflowId),
    name: row.name,
    path: `/api/v1/webhooks/${webhookId}`,
    createdAt: row.createdAt.toISOString(),
    createdBy: row.createdBy === null ? null : toId('user', row.createdBy),
  };
}
