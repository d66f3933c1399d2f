import type { AgentAtAdmission, Facts } from './admission.ts';
import {
  monthStartMs,
  noLimits,
  type RateLimits,
  secondsUntil,
  type WindowState,
} from './limits.ts';

/** What a refused call is told, and the fields that its answer has. */

export function inactiveMessage(agent: AgentAtAdmission): string {
  if (agent.archived) return 'The agent is archived.';
  if (!agent.apiEnabled && agent.stage !== 'Draft' && agent.stage !== 'Paused') {
    return 'API access of the agent is switched off.';
  }
  return `The agent is in stage ${agent.stage}, which takes no API calls.`;
}

export function limitMessage(by: WindowState): string {
  const whose = { key: 'the API key', agent: 'the agent', stage: 'the Testing stage' }[by.scope];
  return `Rate limit of ${whose} exceeded: ${by.limit} per ${by.window}.`;
}

/** The `rateLimits` shown are those configured on the key, whichever limit was hit; for a session the agent's. */
export function limitFields(facts: Facts, by: WindowState): Record<string, unknown> {
  const { scope, window, limit, resetAtMs } = by;
  return {
    ...shownLimits(facts),
    retryAfter: secondsUntil(resetAtMs, facts.nowMs),
    limitedBy: { scope, window, limit, resetAt: new Date(resetAtMs).toISOString() },
  };
}

export function quotaFields(facts: Facts, limit: number): Record<string, unknown> {
  const resetAtMs = monthStartMs(facts.month.month + 1);
  return {
    ...shownLimits(facts),
    retryAfter: secondsUntil(resetAtMs, facts.nowMs),
    limitedBy: {
      scope: 'quota',
      window: 'month',
      limit,
      resetAt: new Date(resetAtMs).toISOString(),
    },
  };
}

function shownLimits({ caller, agent }: Facts): { rateLimits: RateLimits } {
  return { rateLimits: caller.kind === 'key' ? caller.limits : (agent?.limits ?? noLimits) };
}
