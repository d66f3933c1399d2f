import type { Stage } from '../agent/agent.ts';
import {
  monthStartMs,
  noLimits,
  type RateLimits,
  secondsUntil,
  type WindowState,
} from '../agent/limits.ts';
import type { ExecuteBody } from '../agent/variables.ts';
import type { CallFailureCode } from '../failure.ts';
import { toId } from '../id.ts';
import type { Caller } from '../people/caller.ts';
import { hasRight, type Right } from '../people/member.ts';

/** Messages and response fields of refused calls. */

/** The message for a missing permission: the key does not have it, or the role does not allow it. */
export function deniedMessage({ kind, role }: Pick<Caller, 'kind' | 'role'>, right: Right): string {
  if (role === null || (kind === 'key' && hasRight(role, right))) {
    return `This needs the permission "${right}".`;
  }
  if (right === 'own') return 'Only an owner of the workspace may do this.';
  return kind === 'key'
    ? `The issuer of this key has the role ${role}, which does not allow this.`
    : `The role ${role} does not allow this.`;
}

export function inactiveMessage(agent: {
  readonly stage: Stage;
  readonly archived: boolean;
  readonly apiEnabled: boolean;
}): string {
  if (agent.archived) return 'The agent is archived.';
  if (!agent.apiEnabled && agent.stage !== 'Draft' && agent.stage !== 'Paused') {
    return 'The API of the agent is disabled.';
  }
  return `The agent is in stage ${agent.stage}, which accepts no API calls.`;
}

export function limitMessage(by: WindowState, callerId: string): string {
  const key = by.apiKeyId === callerId ? 'the API key' : 'an API key that issued this one';
  const whose = { key, agent: 'the agent', stage: 'the Testing stage' }[by.scope];
  return `Rate limit of ${whose} exceeded: ${by.limit} per ${by.window}.`;
}

export function limitFields(
  rateLimits: RateLimits,
  { scope, apiKeyId, window, limit, resetAtMs }: WindowState,
  nowMs: number,
): Record<string, unknown> {
  const key = apiKeyId !== undefined && { apiKeyId: toId('key', apiKeyId) };
  return {
    rateLimits,
    retryAfter: secondsUntil(resetAtMs, nowMs),
    limitedBy: { scope, ...key, window, limit, resetAt: new Date(resetAtMs).toISOString() },
  };
}

interface Limited {
  readonly caller: Pick<Caller, 'kind' | 'limits' | 'countedKeys'>;
  readonly agent: { readonly limits: RateLimits } | null;
}

export function quotaFields(
  facts: Limited & { readonly month: { readonly month: number }; readonly nowMs: number },
  limit: number,
): Record<string, unknown> {
  const resetAtMs = monthStartMs(facts.month.month + 1);
  return {
    rateLimits: reportedLimits(facts),
    retryAfter: secondsUntil(resetAtMs, facts.nowMs),
    limitedBy: {
      scope: 'quota',
      window: 'month',
      limit,
      resetAt: new Date(resetAtMs).toISOString(),
    },
  };
}

/**
 * The limits reported in a 429: those of the key whose window is full, else those of the caller's key, whichever limit was
 * hit; for a session the agent's.
 */
export function reportedLimits({ caller, agent }: Limited, by?: WindowState): RateLimits {
  const full = by && caller.countedKeys.find(({ apiKeyId }) => apiKeyId === by.apiKeyId);
  if (full) return full.limits;
  return caller.kind === 'key' ? caller.limits : (agent?.limits ?? noLimits);
}

const passURLs = 'Pass images and files as https URLs.';

/** The refusal for a body that could not be read. */
export function bodyFailure(body: Exclude<ExecuteBody, { kind: 'variables' }>): {
  readonly code: CallFailureCode;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
} {
  const { message } = body;
  switch (body.kind) {
    case 'malformed':
      return { code: 'MALFORMED_BODY', message, fields: {} };
    case 'too-large':
      return { code: 'BODY_TOO_LARGE', message: `${message} ${passURLs}`, fields: {} };
    case 'unsupported':
      return { code: 'UNSUPPORTED_MEDIA_TYPE', message, fields: {} };
    case 'denied':
      return { code: 'PERMISSION_DENIED', message, fields: {} };
    case 'absent':
      return { code: 'INVALID_REQUEST', message, fields: {} };
    case 'invalid':
      if (body.variable === null) return { code: 'INVALID_REQUEST', message, fields: {} };
      return { code: 'INVALID_VARIABLES', message, fields: { variable: body.variable } };
  }
}
