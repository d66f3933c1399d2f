import { callable, type Stage, type Visibility } from '../agent/agent.ts';
import {
  type CallAdditions,
  type CallBody,
  type ConversationTarget,
  resolveConversation,
} from '../agent/conversation.ts';
import type { FileKind } from '../agent/file-value.ts';
import type { AgentConfig, ModelSettings, WorkflowStepOf } from '../agent/model-settings.ts';
import { type ResponseFormat, responseFormatOf } from '../agent/response-format.ts';
import { malformedFile } from '../agent/stored-files.ts';
import { mismatchedVariable, variableMismatchMessage } from '../agent/variable-schemas.ts';
import { malformedList, missingOf, type Variables } from '../agent/variables.ts';
import type { CallFailureCode, ExecutionErrorCode } from '../failure.ts';
import { toId } from '../id.ts';
import type { ModelSetup } from '../model/model-port.ts';
import { sees } from '../people/member.ts';
import type { Caller } from './caller.ts';
import type { EndStatus } from './execution.ts';
import {
  agentLimits,
  type Counts,
  type KeyWindows,
  monthOf,
  type RateLimits,
  roll,
  spend,
  spendKeys,
  stageLimits,
  type Verdict,
  type WindowState,
} from './limits.ts';
import {
  bodyFailure,
  deniedMessage,
  inactiveMessage,
  limitFields,
  limitMessage,
  quotaFields,
  reportedLimits,
} from './refusal-messages.ts';

/**
 * The admission decision on one execute call: a pure function of the locked rows. It changes the counts in place, so
 * the calls of a batch are decided one after the other. The order of the checks is part of the API.
 */

/** One execute call as received. */
export interface ExecuteCall {
  readonly credential:
    | { readonly kind: 'key'; readonly hash: string }
    | { readonly kind: 'session'; readonly caller: Caller }
    /** A ready step of a workflow run; the key is the one that started the run. */
    | {
        readonly kind: 'workflow';
        readonly caller: Caller;
        readonly step: WorkflowStepOf;
        /** Whether this calls the step's fallback. */
        readonly fallback: boolean;
        readonly apiKeyId: string | null;
      };
  /** Null for a malformed id, which is treated as unknown. */
  readonly agentId: string | null;
  readonly body: CallBody;
  readonly idempotencyKey: string | null;
  /** Why the idempotency key is invalid. It travels as a value, like a malformed body. */
  readonly idempotencyProblem: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

export interface AgentAtAdmission {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly stage: Stage;
  readonly archived: boolean;
  readonly apiEnabled: boolean;
  readonly visibility: Visibility;
  readonly createdBy: string | null;
  readonly limits: RateLimits;
  readonly config: AgentConfig;
  readonly requiredVariables: readonly string[];
  readonly optionalVariables: readonly string[];
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly storeBodies: boolean;
  readonly allowedOrigins: readonly string[];
  readonly versionId: string;
  readonly versionLabel: string;
  readonly version: ModelSettings;
  /** Variables of the version whose values are lists of messages. */
  readonly messageLists: readonly string[];
  /** Variables of the version whose values are images or files. */
  readonly fileVariables: Readonly<Record<string, FileKind>>;
  /** `variableSchemas` of the version as compact JSON text; null if it has none. */
  readonly variableSchemas: string | null;
  readonly setup: ModelSetup;
  /** What a conversation must fit beyond the variables. */
  readonly promptId: string;
  readonly versionNumber: number;
  readonly allowInstructions: boolean;
  readonly allowTools: boolean;
  /** Of the version, as JSON text; null if it has none. */
  readonly responseFormat: string | null;
  /** The tools of the version. */
  readonly toolNames: readonly string[];
}

/** The workspace's AI Actions of one month, rolled over like `Counts`. */
export interface MonthCount {
  readonly actionsPerMonth: number | null;
  month: number;
  used: number;
}

export interface Facts {
  readonly nowMs: number;
  readonly caller: Caller;
  /** Of a key and the keys that issued it; empty for other callers. */
  readonly keyWindows: readonly KeyWindows[];
  /** The addressed agent, if it exists in the caller's workspace. */
  readonly agent: AgentAtAdmission | null;
  readonly agentCounts: Counts | null;
  readonly month: MonthCount;
  /** The limits that the Testing stage caps agents at. */
  readonly testingLimits: RateLimits;
  readonly body: CallBody;
  readonly idempotencyProblem: string | null;
  /**
   * The call that first used the idempotency key, if any. Lazy, because comparing bodies takes time linear in their
   * length.
   */
  readonly replay: { readonly sameBody: () => boolean } | null;
}

export interface Refusal {
  readonly kind: 'refused';
  readonly code: CallFailureCode;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly states: readonly WindowState[];
  /** The record of this refusal; null if it leaves none. */
  readonly record: { readonly status: EndStatus; readonly errorCode: ExecutionErrorCode } | null;
}

export type Decision =
  | Refusal
  | { readonly kind: 'replayed'; readonly states: readonly WindowState[] }
  | {
      readonly kind: 'accepted';
      readonly states: readonly WindowState[];
      readonly agent: AgentAtAdmission;
      readonly variables: Variables;
      readonly ignoredVariables: readonly string[];
      /** What the caller adds to the prompt and the format that it asks for; null for nothing. */
      readonly additions: CallAdditions | null;
      readonly responseFormat: ResponseFormat | null;
    };

export function decide(facts: Facts): Decision {
  const { caller, nowMs } = facts;
  const there = facts.agent?.workspaceId === caller.workspaceId ? facts.agent : null;
  const agent = there && isVisible(caller, there) ? there : null;
  const states: WindowState[] = [];
  const refuse: Refuse = (code, message, more = {}) => ({
    kind: 'refused',
    code,
    message,
    states,
    fields: more.fields ?? {},
    // Recorded even if the caller cannot see the agent: those who can see it learn that it was called.
    record: (there && more.record) ?? null,
  });
  const limited = (verdict: Verdict & { passed: false }) =>
    refuse('RATE_LIMIT_EXCEEDED', limitMessage(verdict.by, caller.id), {
      fields: limitFields(reportedLimits(facts, verdict.by), verdict.by, nowMs),
      record: { status: 'rate_limited', errorCode: 'RATE_LIMIT_EXCEEDED' },
    });
  const notAuthorized: Refusal['record'] = {
    status: 'unauthorized',
    errorCode: 'KEY_NOT_AUTHORIZED',
  };

  if (caller.ended || caller.role === null) {
    return refuse('UNAUTHORIZED', 'The API key is not valid.', { record: notAuthorized });
  }
  const verdict = spendKeys(facts.keyWindows, nowMs);
  states.push(...verdict.states);
  if (!verdict.passed) return limited(verdict);
  if (facts.idempotencyProblem) return refuse('INVALID_REQUEST', facts.idempotencyProblem);
  if (facts.replay) {
    if (facts.replay.sameBody()) return { kind: 'replayed', states };
    return refuse('IDEMPOTENCY_KEY_REUSED', reusedMessage);
  }
  if (!agent) return refuse('NOT_FOUND', 'There is no such agent.');
  if (!caller.allAgents && !caller.agentIds.includes(agent.id)) {
    return refuse('UNAUTHORIZED', 'The API key is not valid for this agent.', {
      record: notAuthorized,
    });
  }
  if (!caller.rights.includes('execute')) {
    return refuse('PERMISSION_DENIED', deniedMessage(caller, 'execute'));
  }
  if (caller.kind === 'session' ? agent.archived : !callable({ ...agent })) {
    return refuse('AGENT_NOT_ACTIVE', inactiveMessage(agent), {
      record: { status: 'unauthorized', errorCode: 'AGENT_NOT_ACTIVE' },
    });
  }
  if (facts.agentCounts) {
    roll(facts.agentCounts, nowMs);
    const stage = stageLimits(agent.stage, facts.testingLimits);
    const verdict = spend(facts.agentCounts, agentLimits(agent.limits, stage));
    states.push(...verdict.states);
    if (!verdict.passed) return limited(verdict);
  }
  return decideOnBody(facts, agent, states, refuse);
}

const reusedMessage =
  'This Idempotency-Key was used with other variables or another user, session, tags or metadata.';

type Refuse = (
  code: CallFailureCode,
  message: string,
  more?: { fields?: Readonly<Record<string, unknown>>; record?: Refusal['record'] },
) => Refusal;

/** The last checks: required variables, the body, the monthly quota. */
function decideOnBody(
  facts: Facts,
  agent: AgentAtAdmission,
  states: readonly WindowState[],
  refuse: Refuse,
): Decision {
  const { month, nowMs } = facts;
  const call = resolveBody(facts.body, agent);
  if ('kind' in call) {
    const { message, parameter, parameterCode } = call;
    return refuse('INVALID_REQUEST', message, { fields: { parameter, parameterCode } });
  }
  const { body, additions, responseFormat } = call;
  const missing = missingOf(agent.requiredVariables, body);
  if (missing.length > 0) {
    return refuse('MISSING_VARIABLES', `Required variables are missing: ${missing.join(', ')}.`, {
      fields: { missingVariables: missing, requiredVariables: agent.requiredVariables },
    });
  }
  if (body.kind !== 'variables') {
    const { code, message, fields } = bodyFailure(body);
    return refuse(code, message, { fields });
  }
  const malformed =
    malformedList(agent.messageLists, body.variables) ?? malformedFile(agent, body.variables);
  if (malformed) {
    const { message, variable } = malformed;
    return refuse('INVALID_VARIABLES', message, { fields: { variable } });
  }
  const mismatch = mismatchedVariable(agent.variableSchemas, body.variables);
  if (mismatch) {
    const { variable, path } = mismatch;
    return refuse('INVALID_VARIABLES', variableMismatchMessage(mismatch), {
      fields: { variable, path },
    });
  }
  if (monthOf(nowMs) > month.month) {
    month.month = monthOf(nowMs);
    month.used = 0;
  }
  if (month.actionsPerMonth !== null && month.used >= month.actionsPerMonth) {
    return refuse('QUOTA_EXCEEDED', 'The monthly quota of AI Actions is used up.', {
      fields: quotaFields(facts, month.actionsPerMonth),
      record: { status: 'rate_limited', errorCode: 'QUOTA_EXCEEDED' },
    });
  }
  month.used++;
  const declared = new Set([
    ...agent.requiredVariables,
    ...agent.optionalVariables,
    ...Object.keys(agent.defaults),
  ]);
  return {
    kind: 'accepted',
    states,
    agent,
    variables: body.variables,
    additions,
    responseFormat,
    ignoredVariables: [...body.variables.values.keys()].filter((name) => !declared.has(name)),
  };
}

function resolveBody(body: CallBody, agent: AgentAtAdmission) {
  if (body.kind === 'invalid-parameter') return body;
  if (body.kind !== 'conversation') return { body, additions: null, responseFormat: null };
  return resolveConversation(body, targetOf(agent), toId('version', agent.versionId));
}

function targetOf(agent: AgentAtAdmission): ConversationTarget {
  const { responseFormat } = agent;
  const format = agent.config.responseFormat ?? (responseFormat && JSON.parse(responseFormat));
  return { ...agent, responseFormat: responseFormatOf(format || null) };
}

/** A key sees what its issuer sees. */
function isVisible({ userId, role }: Caller, agent: AgentAtAdmission): boolean {
  return role !== null && sees({ userId, role }, agent);
}
