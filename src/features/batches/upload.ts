import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { batchBytesMax } from '../../core/batch/batch.ts';
import { type AgentAtAdmission, checkBatchCall } from '../../core/execution/decide.ts';
import { CallFailure, invalidRequest } from '../../core/failure.ts';
import { toId } from '../../core/id.ts';
import type { Caller } from '../../core/people/caller.ts';
import { inWorkspace } from '../../db/fair-connections.ts';
import { agentOfRow } from '../../engine/admit/admission-mapping.ts';
import { readUploadAgent } from '../../engine/admit/admission-read.ts';
import { bodyBytesMax } from '../../http/contract/contract-limits.ts';
import type { Query } from '../../http/contract/operation.ts';
import { allowAgentOrigins, allowOrigin } from '../../http/cors.ts';
import { hasJsonLines, streamBody } from '../../http/request/body.ts';
import { callerAddress } from '../../http/request/caller-address.ts';
import { requireCredential } from '../../http/request/credential.ts';
import { checkQuery } from '../../http/request/validate.ts';
import { route, routePath, send } from '../../http/route.ts';
import type { ApiDeps } from '../api-deps.ts';
import { readIdempotency, userAgentOf } from '../executions/routes/execute-call.ts';
import { findAgentId } from '../people/access/visible-resources.ts';
import * as contract from './batches-contract.ts';
import { requireBatch } from './batches-routes.ts';
import { readFailedLines } from './statements/batches.ts';
import { type EarlierUpload, findEarlierUpload } from './statements/uploads.ts';
import { rerunBatch } from './verbs/rerun-batch.ts';
import { otherFile, replayUpload, type Uploaded, uploadBatch } from './verbs/upload-batch.ts';

/** Uploads batches, and runs their failed lines again. Refusals follow the order of an execute call; the body is read last, because it is long. */
export function uploadRoutes(app: FastifyInstance, deps: ApiDeps): void {
  app.post<{ Params: { agentId: string } }>(
    routePath(contract.createBatch),
    async (request, reply) => {
      requireCredential(request);
      const caller = await deps.authenticator.identify(request, contract.createBatch);
      if (caller.kind === 'session') deps.checkSameOrigin(request);
      deps.limitManagement(caller, reply);
      allowOrigin(request, reply, caller.allowedOrigins);
      // Each upload holds a line and the ids of its file in memory.
      const release = deps.shares.uploads.take(caller.workspaceId);
      const upload = async () => {
        const { agentId, file } = await checkUpload(deps, { request, reply, caller });
        return { agentId, ...(await file()) };
      };
      const { agentId, batchId, replayed } = await inWorkspace(caller.workspaceId, upload).finally(
        release,
      );
      const { result, headers } = acceptedOf(request, agentId, { batchId, replayed });
      const body = { ...result, batchId: toId('batch', batchId) };
      send(reply, { status: 202, body, headers });
      return reply;
    },
  );

  route(app, deps, contract.rerunBatch, async (context) => {
    const { request, caller } = context;
    const batch = await requireBatch(deps, context);
    const { agentId } = batch;
    const use = { caller: caller.id, agentId, idempotencyKey: requireIdempotency(request) };
    const earlier = await findEarlier(deps, use);
    // A first call is returned again whatever has become of the agent.
    const target = isComplete(earlier) ? null : await requireTarget(deps, caller, agentId);
    const input = {
      ...uploadOf({ request, caller }, use),
      ...{ promptVersionId: target?.versionId ?? '', storage: deps.batchStorage },
      readLines: (id: string, after: number) =>
        deps.historyReads.read(caller, (db) => readFailedLines(db, id, after)),
    };
    const release = deps.shares.uploads.take(caller.workspaceId);
    const rerun = { ...batch, counts: batch };
    const accepted = await rerunBatch(deps.db, rerun, earlier, input).finally(release);
    return acceptedOf(request, agentId, accepted);
  });
}

/** The 202: the batch, as rows name it, and where it is. */
function acceptedOf({ server }: FastifyRequest, agentId: string, { batchId, replayed }: Uploaded) {
  const location = `/api/v1/agents/${toId('agent', agentId)}/batches/${toId('batch', batchId)}`;
  return {
    result: { batchId, statusUrl: server.basePath + location },
    headers: { location, ...(replayed && { 'idempotent-replayed': 'true' }) },
  };
}

interface Upload {
  readonly request: FastifyRequest;
  readonly caller: Caller;
}

interface UploadRequest extends Upload {
  readonly request: FastifyRequest<{ Params: { agentId: string } }>;
  readonly reply: FastifyReply;
}

function requireIdempotency(request: FastifyRequest): string | null {
  const { idempotencyKey, idempotencyProblem } = readIdempotency(request);
  if (idempotencyProblem !== null) throw invalidRequest(idempotencyProblem);
  return idempotencyKey;
}

/** What was uploaded with the same idempotency key. */
async function findEarlier(
  { db }: ApiDeps,
  { idempotencyKey, ...use }: { caller: string; agentId: string; idempotencyKey: string | null },
): Promise<EarlierUpload | null> {
  return idempotencyKey === null ? null : findEarlierUpload(db, { ...use, idempotencyKey });
}

/** Whose upload it is. */
function uploadOf<Use>({ request, caller }: Upload, use: Use) {
  return {
    ...use,
    workspaceId: caller.workspaceId,
    apiKeyId: caller.kind === 'key' ? caller.id : null,
    executedBy: caller.userId,
    ipAddress: callerAddress(request),
    userAgent: userAgentOf(request),
  };
}

interface CheckedUpload {
  readonly agentId: string;
  /** Reads the body. */
  readonly file: () => Promise<Uploaded>;
}

/** Checks everything that precedes the body. */
async function checkUpload(
  deps: ApiDeps,
  { request, reply, caller }: UploadRequest,
): Promise<CheckedUpload> {
  const idempotencyKey = requireIdempotency(request);
  const agentId = await findAgentId(deps.reads, caller, request.params.agentId);
  if (agentId === null) throw noSuchAgent();
  const use = { caller: caller.id, agentId, idempotencyKey };
  const earlier = await findEarlier(deps, use);
  if (earlier && earlier.rerunOf !== null) throw otherFile();
  if (isComplete(earlier)) {
    if (refusalOf(request)) throw otherFile();
    return { agentId, file: () => replayUpload(streamBody(request.raw), earlier) };
  }
  const target = await requireTarget(deps, caller, agentId);
  allowAgentOrigins({ request, reply, caller }, target);
  const { fileName = null } = checkQuery<Query<typeof contract.createBatch>>(
    contract.createBatch.query,
    request.query as Record<string, unknown>,
  );
  const upload = {
    ...{ ...uploadOf({ request, caller }, use), fileName },
    ...{ file: fileOf(request), compute: deps.compute, lineBytesMax: bodyBytesMax },
    target: { ...target, allowed: deps.allowedHosts },
    storage: deps.batchStorage,
  };
  return { agentId, file: () => uploadBatch(deps.db, earlier, upload) };
}

function noSuchAgent(): CallFailure {
  return new CallFailure('NOT_FOUND', 'There is no such agent.');
}

function isComplete(
  earlier: EarlierUpload | null,
): earlier is EarlierUpload & { readonly digest: Buffer } {
  return earlier !== null && earlier.digest !== null;
}

/** The agent, if the caller may execute it now. */
async function requireTarget(
  { singlePipelines }: ApiDeps,
  caller: Caller,
  agentId: string,
): Promise<AgentAtAdmission> {
  const { workspaceId } = caller;
  const [row] = await singlePipelines.use((send) =>
    send(readUploadAgent, { id: agentId, workspaceId }),
  );
  const checked = checkBatchCall(caller, row ? agentOfRow(row) : null);
  if (checked.kind === 'passed') return checked.found;
  throw new CallFailure(checked.code, checked.message);
}

function fileOf(request: FastifyRequest): AsyncGenerator<Buffer, void, undefined> {
  const refusal = refusalOf(request);
  if (refusal) throw refusal;
  return streamBody(request.raw);
}

/** Why the headers of the body are refused; null if they are not. */
function refusalOf({ raw }: FastifyRequest): CallFailure | null {
  const { 'content-length': length, 'transfer-encoding': transfer } = raw.headers;
  if (transfer === undefined && Number(length ?? 0) === 0) {
    return invalidRequest('The upload is empty.');
  }
  if (!hasJsonLines(raw)) {
    return new CallFailure(
      'UNSUPPORTED_MEDIA_TYPE',
      'The body must be application/jsonl or application/x-ndjson in UTF-8, without a content or transfer coding.',
    );
  }
  if (Number(length ?? 0) > batchBytesMax) {
    return new CallFailure('BODY_TOO_LARGE', `The upload has more than ${batchBytesMax} bytes.`);
  }
  return null;
}
