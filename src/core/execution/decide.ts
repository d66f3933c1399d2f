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
import { type ExecuteBody, malformedList, missingOf, type Variables } from '../agent/variables.ts';
import type { BatchLineOf } from '../batch/batch.ts';
import type { CallFailureCode } from '../failure.ts';
import { toId } from '../id.ts';
import type { ModelSetup } from '../model/model-port.ts';
import type { Caller } from '../people/caller.ts';
import { sees } from '../people/member.ts';
import {
  type CallFacts,
  type CallTarget,
  checkCall,
  type PassedCall,
  type Refusal,
  type Replay,
  refuseLimited,
} from './check-call.ts';
import {
  agentLimits,
  type Counts,
  monthOf,
  type RateLimits,
  roll,
  spend,
  stageLimits,
  type WindowState,
} from './limits.ts';
import { bodyFailure, inactiveMessage, quotaFields } from './refusal-messages.ts';

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
  /** The line of a batch that becomes this execution. */
  readonly batchLine?: BatchLineOf;
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
  readonly versionAliases: Readonly<Record<string, string>>;
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

export interface Facts extends CallFacts {
  /** The addressed agent, if it exists in the caller's workspace. */
  readonly agent: AgentAtAdmission | null;
  readonly agentCounts: Counts | null;
  readonly month: MonthCount;
  /** The limits that the Testing stage caps agents at. */
  readonly testingLimits: RateLimits;
  readonly body: CallBody;
}

export type Decision =
  | Refusal
  | Replay
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
  const checked = checkCall(facts, targetOf(facts));
  if (checked.kind !== 'passed') return checked;
  const { found: agent, states, refuse } = checked;
  if (facts.agentCounts) {
    roll(facts.agentCounts, nowMs);
    const stage = stageLimits(agent.stage, facts.testingLimits);
    const verdict = spend(facts.agentCounts, agentLimits(agent.limits, stage));
    states.push(...verdict.states);
    if (!verdict.passed) return refuseLimited(refuse, { nowMs, caller, agent }, verdict.by);
  }
  return decideOnBody(facts, checked);
}

/**
 * The checks of an execute call that precede limits and body, for a batch, which belongs to the API even if a session uploads it. Spends
 * nothing.
 */
export function checkBatchCall(
  caller: Caller,
  agent: AgentAtAdmission | null,
): Exclude<ReturnType<typeof checkCall<AgentAtAdmission>>, Replay> {
  const asKey: Caller = { ...caller, kind: 'key' };
  const nothingSpent = { nowMs: 0, keyWindows: [], idempotencyProblem: null, replay: null };
  const checked = checkCall({ ...nothingSpent, caller: asKey }, targetOf({ caller: asKey, agent }));
  if (checked.kind === 'replayed') throw new Error('An upload is not replayed here.');
  return checked;
}

function targetOf({
  caller,
  agent,
}: Pick<Facts, 'caller' | 'agent'>): CallTarget<AgentAtAdmission> {
  const there = agent?.workspaceId === caller.workspaceId ? agent : null;
  return {
    noun: 'agent',
    found: there && isVisible(caller, there) ? there : null,
    // Even if the caller cannot see the agent: those who can see it learn that it was called.
    isRecorded: there !== null,
    unreached: ({ id }) =>
      caller.allAgents || caller.agentIds.includes(id)
        ? null
        : 'The API key is not valid for this agent.',
    inactive: (found) =>
      (caller.kind === 'session' ? !found.archived : callable(found))
        ? null
        : inactiveMessage(found),
    reused:
      'This Idempotency-Key was used with other variables or another user, session, tags, metadata or playground.',
  };
}

/** The last checks: required variables, the body, the monthly quota. */
function decideOnBody(
  facts: Facts,
  { found: agent, states, refuse }: PassedCall<AgentAtAdmission>,
): Decision {
  const { caller, month, nowMs } = facts;
  const call = resolveBody(facts.body, agent, caller);
  if ('kind' in call) {
    const { message, parameter, parameterCode } = call;
    return refuse('INVALID_REQUEST', message, { parameter, parameterCode });
  }
  const { body, additions, responseFormat } = call;
  const read = acceptableVariables(body, agent);
  if ('code' in read) return refuse(read.code, read.message, read.fields);
  if (monthOf(nowMs) > month.month) {
    month.month = monthOf(nowMs);
    month.used = 0;
  }
  if (month.actionsPerMonth !== null && month.used >= month.actionsPerMonth) {
    const fields = quotaFields(facts, month.actionsPerMonth);
    return refuse('QUOTA_EXCEEDED', 'The monthly quota of AI Actions is used up.', fields);
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
    variables: read.variables,
    additions,
    responseFormat,
    ignoredVariables: [...read.variables.values.keys()].filter((name) => !declared.has(name)),
  };
}

interface BodyRefusal {
  readonly code: CallFailureCode;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What the variables of a call must fit. */
export type VariablesTarget = Pick<
  AgentAtAdmission,
  'requiredVariables' | 'messageLists' | 'fileVariables' | 'variableSchemas'
>;

/** The variables of a body, or why the agent cannot be called with it. */
export function acceptableVariables(
  body: ExecuteBody,
  agent: VariablesTarget,
): { readonly variables: Variables } | BodyRefusal {
  const missing = missingOf(agent.requiredVariables, body);
  if (missing.length > 0) {
    const message = `Required variables are missing: ${missing.join(', ')}.`;
    const fields = { missingVariables: missing, requiredVariables: agent.requiredVariables };
    return { code: 'MISSING_VARIABLES', message, fields };
  }
  if (body.kind !== 'variables') return bodyFailure(body);
  const { variables } = body;
  const malformed = malformedList(agent.messageLists, variables) ?? malformedFile(agent, variables);
  if (malformed) {
    const { message, variable } = malformed;
    return { code: 'INVALID_VARIABLES', message, fields: { variable } };
  }
  const mismatch = mismatchedVariable(agent.variableSchemas, variables);
  if (!mismatch) return { variables };
  const { variable, path } = mismatch;
  const message = variableMismatchMessage(mismatch);
  return { code: 'INVALID_VARIABLES', message, fields: { variable, path } };
}

function resolveBody(body: CallBody, agent: AgentAtAdmission, caller: Caller) {
  if (body.kind === 'invalid-parameter') return body;
  if (body.kind !== 'conversation') return { body, additions: null, responseFormat: null };
  const target = conversationTarget(agent, caller);
  return resolveConversation(body, target, toId('version', agent.versionId));
}

function conversationTarget(agent: AgentAtAdmission, { rights }: Caller): ConversationTarget {
  const { responseFormat } = agent;
  const format = agent.config.responseFormat ?? (responseFormat && JSON.parse(responseFormat));
  return {
    ...agent,
    responseFormat: responseFormatOf(format || null),
    isReadable: rights.includes('read'),
  };
}

/** A key sees what its issuer sees. */
function isVisible({ userId, role }: Caller, agent: AgentAtAdmission): boolean {
  return role !== null && sees({ userId, role }, agent);
}
