import type { FastifyRequest } from 'fastify';
import type { Endpoint } from '../../../contract/endpoint.ts';
import { idempotencyKeyMax } from '../../../contract/limits.ts';
import { type ExecuteBody, parseExecuteBody } from '../../../core/agent/variables.ts';
import type { ExecuteCall } from '../../../core/execution/decide.ts';
import { unknownName } from '../../../core/failure.ts';
import { requireCredential } from '../../access/authenticate.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { readBody } from '../../http/body.ts';

/** A call to execute an agent or a workflow, as it is sent: whatever is wrong with it travels on as a value. */

/** The body, and with it the query, which has no parameters. */
export async function readExecuteBody(
  request: FastifyRequest,
  field: 'variables' | 'input',
): Promise<ExecuteBody> {
  const [parameter] = Object.keys(request.query as object);
  const raw = await readBody(request);
  if (parameter !== undefined) {
    const message = unknownName(`Parameter ${JSON.stringify(parameter.slice(0, 100))}`, []);
    return { kind: 'invalid', message, variable: null };
  }
  if (raw.kind === 'text') return parseExecuteBody(raw.text, field);
  if (raw.kind === 'none') return { kind: 'malformed', message: 'The body is missing.' };
  return raw;
}

/** The same of a call from the dashboard, and who makes it. */
export async function readDashboardCall(
  { authenticator, checkSameOrigin }: Pick<ApiDeps, 'authenticator' | 'checkSameOrigin'>,
  request: FastifyRequest,
  endpoint: Endpoint,
  field: 'variables' | 'input',
) {
  requireCredential(request);
  const body = await readExecuteBody(request, field);
  // Now that the body is here, which may take its time: by then the caller may have been removed.
  const caller = await authenticator.identify(request, endpoint);
  checkSameOrigin(request);
  return { credential: { kind: 'session', caller }, body } as const;
}

type Idempotency = Pick<ExecuteCall, 'idempotencyKey' | 'idempotencyProblem'>;

export function idempotency(request: FastifyRequest): Idempotency {
  return idempotencyOf(request.headers['idempotency-key'], 'Idempotency-Key');
}

/** A key of the wrong form can name no earlier call, and must not pass for none. */
export function idempotencyOf(key: unknown, header: string): Idempotency {
  if (key === undefined) return { idempotencyKey: null, idempotencyProblem: null };
  if (typeof key === 'string' && key.length <= idempotencyKeyMax && /^[\x20-\x7e]+$/.test(key)) {
    return { idempotencyKey: key, idempotencyProblem: null };
  }
  const complaint = `The ${header} must have 1 to ${idempotencyKeyMax} printable ASCII characters.`;
  return { idempotencyKey: null, idempotencyProblem: complaint };
}
