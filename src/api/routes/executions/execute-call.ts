import type { FastifyRequest } from 'fastify';
import type { Endpoint } from '../../../contract/endpoint.ts';
import { idempotencyKeyMax } from '../../../contract/limits.ts';
import {
  type ExecuteBody,
  parseExecuteBody,
  parseLongBodyJob,
  type UnparsedBody,
} from '../../../core/agent/variables.ts';
import { type Compute, inlineCharsMax } from '../../../core/compute.ts';
import type { ExecuteCall } from '../../../core/execution/decide.ts';
import { unknownName } from '../../../core/failure.ts';
import { requireCredential } from '../../access/authenticate.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { readBody } from '../../http/request/body.ts';

/** Reads a request to execute an agent or a workflow. Errors in it are values, because admission checks limits first. */

/** Reads the body and rejects every query parameter. */
export async function readExecuteBody(
  compute: Compute,
  request: FastifyRequest,
  field: 'variables' | 'input',
): Promise<ExecuteBody | UnparsedBody> {
  const [parameter] = Object.keys(request.query as object);
  const raw = await readBody(request);
  if (parameter !== undefined) {
    const message = unknownName(`Parameter ${JSON.stringify(parameter.slice(0, 100))}`, []);
    return { kind: 'invalid', message, variable: null };
  }
  if (raw.kind === 'text') return executeBody(compute, raw.text, field);
  if (raw.kind === 'none') return { kind: 'malformed', message: 'The body is missing.' };
  return raw;
}

/** A long body is parsed only once its caller is known, and in the compute thread. */
export function executeBody(
  compute: Compute,
  text: string,
  field: 'variables' | 'input' = 'variables',
): ExecuteBody | UnparsedBody {
  if (text.length <= inlineCharsMax) return parseExecuteBody(text, field);
  return {
    kind: 'unparsed',
    chars: text.length,
    parse: (workspaceId) => compute.run(workspaceId, parseLongBodyJob, { text, field }),
  };
}

/** Reads a request from the dashboard and its caller. */
export async function readDashboardCall(
  deps: Pick<ApiDeps, 'authenticator' | 'checkSameOrigin' | 'compute'>,
  request: FastifyRequest,
  endpoint: Endpoint,
  field: 'variables' | 'input',
) {
  requireCredential(request);
  const { authenticator, checkSameOrigin } = deps;
  const body = await readExecuteBody(deps.compute, request, field);
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
