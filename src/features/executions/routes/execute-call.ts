import type { FastifyRequest } from 'fastify';
import {
  type ExecuteBody,
  type LongBody,
  parseExecuteBody,
  parseLongBodyJob,
  type UnparsedBody,
  unpackBody,
} from '../../../core/agent/variables.ts';
import { type Compute, inlineCharsMax } from '../../../core/compute.ts';
import type { ExecuteCall } from '../../../core/execution/decide.ts';
import { unknownName } from '../../../core/failure.ts';
import { idempotencyKeyMax } from '../../../http/contract/contract-limits.ts';
import type { Endpoint } from '../../../http/contract/operation.ts';
import { type CallBodyLimit, readCallBody } from '../../../http/request/body.ts';
import { requireCredential } from '../../../http/request/credential.ts';
import type { ApiDeps } from '../../api-deps.ts';

/** Reads a request to execute an agent or a workflow. Errors in it are values, because admission checks limits first. */

type CallReading = Pick<ApiDeps, 'compute' | 'reads' | 'callBodyBytes'>;

/** Reads the body of a call with a key, and rejects every query parameter. */
export function readExecuteBody(
  deps: CallReading,
  request: FastifyRequest,
  keyHash: string,
  field: LongBody['field'],
): Promise<ExecuteBody | UnparsedBody> {
  return readFieldBody(deps, request, field, keyLimit(deps, request, keyHash));
}

/** A key that does not exist, or has ended, sends no long body. */
export function keyLimit(
  { reads, callBodyBytes: bytesMax }: Pick<ApiDeps, 'reads' | 'callBodyBytes'>,
  request: FastifyRequest,
  keyHash: string,
): CallBodyLimit {
  const mayBeLong = async () => {
    const caller = await reads.caller(keyHash);
    if (caller) request.server.bodyBytes.assign(request, caller.workspaceId);
    return caller?.ended === false;
  };
  return { bytesMax, mayBeLong };
}

async function readFieldBody(
  { compute }: Pick<ApiDeps, 'compute'>,
  request: FastifyRequest,
  field: LongBody['field'],
  limit: CallBodyLimit,
): Promise<ExecuteBody | UnparsedBody> {
  const [parameter] = Object.keys(request.query as object);
  const raw = await readCallBody(request, limit);
  if (parameter !== undefined) {
    const message = unknownName(`Parameter ${JSON.stringify(parameter.slice(0, 100))}`, []);
    return { kind: 'invalid', message, variable: null };
  }
  if (raw.kind === 'text') return executeBody(compute, raw.text, field);
  if (raw.kind === 'bytes') return unparsed(compute, raw.bytes, field);
  if (raw.kind === 'none') return { kind: 'malformed', message: 'The body is missing.' };
  return raw;
}

/** A long body is parsed only once its caller is known, and in the compute thread. */
export function executeBody(
  compute: Compute,
  text: string,
  field: LongBody['field'] = 'variables',
): ExecuteBody | UnparsedBody {
  if (text.length <= inlineCharsMax) return parseExecuteBody(text, field);
  return unparsed(compute, text, field);
}

function unparsed(
  compute: Compute,
  sent: LongBody['sent'],
  field: LongBody['field'],
): UnparsedBody {
  const { length: chars } = sent;
  const parse = async (workspaceId: string) =>
    unpackBody(await compute.run(workspaceId, parseLongBodyJob, { sent, field }, chars));
  return { kind: 'unparsed', chars, parse };
}

/** Reads a request from the dashboard and its caller. */
export async function readDashboardCall(
  deps: Pick<ApiDeps, 'authenticator' | 'checkSameOrigin' | 'compute' | 'callBodyBytes'>,
  request: FastifyRequest,
  endpoint: Endpoint,
  field: LongBody['field'],
) {
  requireCredential(request);
  const { authenticator, checkSameOrigin, callBodyBytes: bytesMax } = deps;
  const mayBeLong = async () => {
    const { workspaceId } = await authenticator.identify(request, endpoint);
    request.server.bodyBytes.assign(request, workspaceId);
    return true;
  };
  const body = await readFieldBody(deps, request, field, { bytesMax, mayBeLong });
  // Follows the body, which may take long: the caller may be removed meanwhile.
  const caller = await authenticator.identify(request, endpoint);
  checkSameOrigin(request);
  return { credential: { kind: 'session', caller }, body } as const;
}

type Idempotency = Pick<ExecuteCall, 'idempotencyKey' | 'idempotencyProblem'>;

export function readIdempotency(request: FastifyRequest): Idempotency {
  return parseIdempotencyKey(request.headers['idempotency-key'], 'Idempotency-Key');
}

/** A malformed idempotency key is an error; it must not count as absent. */
export function parseIdempotencyKey(key: unknown, header: string): Idempotency {
  if (key === undefined) return { idempotencyKey: null, idempotencyProblem: null };
  if (typeof key === 'string' && key.length <= idempotencyKeyMax && /^[\x20-\x7e]+$/.test(key)) {
    return { idempotencyKey: key, idempotencyProblem: null };
  }
  const message = `The ${header} header must have 1 to ${idempotencyKeyMax} printable ASCII characters.`;
  return { idempotencyKey: null, idempotencyProblem: message };
}

/** As the record keeps it. */
export function userAgentOf({ headers }: FastifyRequest): string | null {
  return headers['user-agent']?.slice(0, userAgentMax).toWellFormed() ?? null;
}

const userAgentMax = 500;
