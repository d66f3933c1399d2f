import { callable, type Stage, type Visibility } from '../agent/agent.ts';
import {
  type CallAdditions,
  type CallBody,
  type ComparedFormats,
  type ConversationTarget,
  callerSchemaRefusal,
  type FormatsToCompare,
  type InvalidParameter,
  listRefusal,
  type ParsedBody,
  type ResolvedConversation,
  resolveConversation,
} from '../agent/conversation.ts';
import type { FileKind } from '../agent/file-value.ts';
import {
  agentLimits,
  type Counts,
  monthOf,
  type RateLimits,
  roll,
  spend,
  stageLimits,
  type WindowState,
} from '../agent/limits.ts';
import type { AgentConfig, ModelSettings, WorkflowStepOf } from '../agent/model-settings.ts';
import type { TemplateSize } from '../agent/prompt-size.ts';
import type { ResponseFormat } from '../agent/response-format.ts';
import { type StoredVariables, storeFiles } from '../agent/stored-files.ts';
import { type ExecuteBody, missingOf, type Variables } from '../agent/variables.ts';
import type { BatchLineOf } from '../batch/batch.ts';
import type { Reservation } from '../budget/budget.ts';
import { type BudgetWindow, budgetRefusal, type NeededUsd, reserve } from '../budget/reserve.ts';
import type { CallFailureCode } from '../failure.ts';
import { toId } from '../id.ts';
import type { Labels } from '../labels.ts';
import type { PriceLookup } from '../model/call-bound.ts';
import type { ModelSetup } from '../model/model-port.ts';
import { type Caller, seesCosts } from '../people/caller.ts';
import { sees } from '../people/member.ts';
import { missingValues } from './bound-values.ts';
import {
  type CallFacts,
  type CallTarget,
  checkCall,
  type PassedCall,
  type Refusal,
  type Refuse,
  type Replay,
  refuseLimited,
  type Unprepared,
} from './check-call.ts';
import { type AcceptedCost, type CostRefusal, checkCost, costLimitOf } from './check-cost.ts';
import {
  asSent,
  type CallerSchema,
  isSameQuestion,
  questionOf,
  type VariablesAnswer,
  type VariablesProblem,
  type VariablesQuestion,
  variableProblemText,
} from './examine-variables.ts';
import { isSameSize, type MeasuredCall, measureCall, type SizeQuestion } from './measure-call.ts';
import { bodyFailure, inactiveMessage, quotaFields, reportedLimits } from './refusal-messages.ts';

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
        /** Of all executions of the run together, as decimal text; null for no limit. */
        readonly maxCostUsd: string | null;
      };
  /** Null for a malformed id, which is treated as unknown. */
  readonly agentId: string | null;
  readonly body: CallBody;
  readonly idempotencyKey: string | null;
  /** Why the idempotency key is invalid. It travels as a value, like a malformed body. */
  readonly idempotencyProblem: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  /** The line of a batch that becomes this execution. Its variables were examined at the upload, for the same version. */
  readonly batchLine?: BatchLineOf;
  /** What was computed about the body outside of the locks (`engine/admit/prepare-call.ts`). */
  readonly preparation?: Preparation;
}

export interface Preparation {
  /** Of the body; null without an idempotency key. */
  readonly digest: Buffer | null;
  /** About the agent as it was last read; null if there was nothing to examine. */
  readonly examined: {
    readonly question: VariablesQuestion;
    readonly answer: VariablesAnswer;
  } | null;
  /** The formats of that agent and of the call; null if there was nothing to compare. */
  readonly compared: ComparedFormats | null;
  /** Only under a limit of cost. */
  readonly measured?: MeasuredCall | null;
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
  /** That of the agent, else of its version, as JSON text. */
  readonly formatText: string | null;
  /** Whether its workspace has budgets. */
  readonly isBudgeted: boolean;
  /** The tools of the version. */
  readonly toolNames: readonly string[];
  /** What the tools that the service executes take from the call; null if the version has none. */
  readonly boundValues: readonly string[] | null;
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
  /** The windows of budgets, and of its workflow run's limit, that the call counts for; null if there are none of either. Reserved in place. */
  readonly windows: readonly BudgetWindow[] | null;
  /** The limits that the Testing stage caps agents at. */
  readonly testingLimits: RateLimits;
  readonly call: Pick<ExecuteCall, 'body' | 'preparation' | 'batchLine' | 'idempotencyKey'>;
  readonly prices: PriceLookup;
  /** Of the version of a batch under a limit of cost: its lines are short, so they are measured here. */
  readonly lineTemplate?: TemplateSize | null;
}

export type Decision =
  | Refusal
  | Replay
  /** The counts must be restored: the call comes back. */
  | Unprepared
  | {
      readonly kind: 'accepted';
      readonly states: readonly WindowState[];
      readonly agent: AgentAtAdmission;
      readonly variables: Variables;
      readonly stored: StoredVariables;
      /** What the caller's schema does not check, as JSON; null if it checks everything. */
      readonly warnings: string | null;
      readonly ignoredVariables: readonly string[];
      /** What the caller adds to the prompt and the format that it asks for; null for nothing. */
      readonly additions: CallAdditions | null;
      readonly responseFormat: ResponseFormat | null;
      /** Null without a limit of cost. */
      readonly cost: AcceptedCost | null;
      /** Of the first call; null if there are no budgets, as `windows` of the facts. */
      readonly reservations: readonly Reservation[] | null;
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

/** A call that is not decided now must not spend what `decide` has counted. */
export function rememberCounts(
  facts: CallFacts & Partial<Pick<Facts, 'agentCounts' | 'month' | 'windows'>>,
): () => void {
  const { keyWindows, agentCounts, month, windows } = facts;
  const ofKeys = keyWindows.map(({ counts }) => counts);
  const counted = [...ofKeys, agentCounts ?? {}, month ?? {}, ...(windows ?? [])];
  const before = counted.map((counts) => ({ ...counts }));
  return () => {
    for (const [at, counts] of counted.entries()) Object.assign(counts, before[at]);
  };
}

/**
 * The checks of an execute call that precede limits and body, for a batch, which belongs to the API even if a session uploads it. Spends
 * nothing.
 */
export function checkBatchCall(
  caller: Caller,
  agent: AgentAtAdmission | null,
): Exclude<ReturnType<typeof checkCall<AgentAtAdmission>>, Replay | Unprepared> {
  const asKey: Caller = { ...caller, kind: 'key' };
  const nothingSpent = { nowMs: 0, keyWindows: [], idempotencyProblem: null, replay: null };
  const checked = checkCall({ ...nothingSpent, caller: asKey }, targetOf({ caller: asKey, agent }));
  if (checked.kind === 'replayed' || checked.kind === 'unprepared') {
    throw new Error('An upload is not replayed here.');
  }
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
      'This Idempotency-Key was used with other variables or another user, session, tags, metadata, playground or draft.',
  };
}

/** The last checks: required variables, the body, the monthly quota. */
function decideOnBody(
  facts: Facts,
  { found: agent, states, refuse }: PassedCall<AgentAtAdmission>,
): Decision {
  const { caller, month, nowMs } = facts;
  const { body, preparation = null, batchLine, idempotencyKey } = facts.call;
  const isHashed = idempotencyKey === null || !!preparation?.digest;
  if (body.kind === 'unparsed' || !isHashed) return { kind: 'unprepared' };
  const isReadable = caller.rights.includes('read');
  const call = resolveCall(body, agent, isReadable, preparation?.compared ?? null);
  if ('asked' in call) return { kind: 'unprepared' };
  if ('code' in call) return refuse(call.code, call.message, call.fields);
  const { variables, question, additions, responseFormat } = call;
  const examined = batchLine
    ? { stored: storeFiles(agent, variables), warnings: null }
    : examinedVariables(variables, question, preparation);
  if (examined === null) return { kind: 'unprepared' };
  if ('kind' in examined) {
    const { code, message, fields } = problemRefusal(examined, body, call.list);
    return refuse(code, message, fields);
  }
  const unbound = missingValues(agent.boundValues ?? [], labelsOf(body));
  if (unbound.length > 0) {
    const message = `The tools of this agent take values from the call that it does not have: ${unbound.join(', ')}.`;
    return refuse('MISSING_METADATA', message, { missingMetadata: unbound });
  }
  const cost = limitCost(facts, agent, call, examined.stored);
  if (cost === 'unmeasured') return { kind: 'unprepared' };
  if (cost && 'code' in cost) return refuse(cost.code, cost.message, cost.fields);
  if (monthOf(nowMs) > month.month) {
    month.month = monthOf(nowMs);
    month.used = 0;
  }
  if (month.actionsPerMonth !== null && month.used >= month.actionsPerMonth) {
    const fields = quotaFields(facts, month.actionsPerMonth);
    return refuse('QUOTA_EXCEEDED', 'The monthly quota of AI Actions is used up.', fields);
  }
  const reserved = reserveWindows(facts, agent, cost?.boundUsd ?? null, refuse);
  if (reserved && 'code' in reserved) return reserved;
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
    variables,
    stored: examined.stored,
    warnings: examined.warnings,
    additions,
    responseFormat,
    cost,
    reservations: reserved,
    ignoredVariables: [...variables.values.keys()].filter((name) => !declared.has(name)),
  };
}

/** Null if no limit of cost, of it or its workflow run, and no budget concerns the call. */
function limitCost(
  { caller, call: { body, preparation, batchLine }, prices, lineTemplate, windows }: Facts,
  agent: AgentAtAdmission,
  call: ResolvedCall,
  stored: StoredVariables,
): AcceptedCost | CostRefusal | 'unmeasured' | null {
  const maxCostUSD = body.kind === 'unparsed' ? null : costLimitOf(agent.config, body);
  const limits = { maxCostUSD, windows: windows ?? [] };
  if (maxCostUSD === null && limits.windows.length === 0) return null;
  const question = sizeQuestionOf(agent, call, stored);
  const { measured = null } = preparation ?? {};
  if (batchLine && lineTemplate) {
    const size = measureCall({ template: lineTemplate, question });
    return checkCost(prices, caller, agent, { ...limits, size });
  }
  if (!measured || !isSameSize(measured.question, question)) return 'unmeasured';
  return checkCost(prices, caller, agent, { ...limits, size: measured.size });
}

/** What tells how long the prompt of a call is. */
export function sizeQuestionOf(
  { versionId, defaults, formatText }: AgentAtAdmission,
  { additions, schemaText }: ResolvedCall,
  { json }: StoredVariables,
): SizeQuestion {
  const schema = schemaText ?? formatText;
  return { versionId, json, defaults: JSON.stringify(defaults), additions, schema };
}

/** Reserves the bound of the first call in all its budgets. Null if the workspace has none. */
function reserveWindows(
  { windows, caller, nowMs }: Facts,
  agent: AgentAtAdmission,
  bound: NeededUsd,
  refuse: Refuse,
): readonly Reservation[] | Refusal | null {
  if (windows === null) return null;
  const decision = reserve(windows, bound);
  if (decision.kind === 'unbounded') throw new Error('A call without a bound was not refused.');
  if (decision.kind === 'reserved') return decision.reservations;
  const refusal = budgetRefusal(decision, { nowMs, showsMoney: seesCosts(caller) });
  const { message, fields, ...reason } = refusal;
  const budget = { ...reason, window: decision.window };
  // It leaves no record: the step says why it was not called.
  if (reason.code === 'COST_LIMIT') return { ...refuse('COST_LIMIT_TOO_LOW', message), budget };
  const rateLimits = reportedLimits({ caller, agent });
  return { ...refuse('BUDGET_EXCEEDED', message, { rateLimits, ...fields }), budget };
}

function labelsOf(body: ParsedBody): Labels | null {
  return body.kind === 'variables' || body.kind === 'conversation' ? body.labels : null;
}

interface BodyRefusal {
  readonly code: CallFailureCode;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A call that fits the agent as far as its names and its form tell. */
export interface ResolvedCall {
  readonly variables: Variables;
  readonly additions: CallAdditions | null;
  readonly responseFormat: ResponseFormat | null;
  /** The schema of that format as JSON. */
  readonly schemaText: string | null;
  /** The variable that is the conversation; null if there is none. */
  readonly list: string | null;
  /** What is left to examine outside of the locks; null for nothing. */
  readonly question: VariablesQuestion | null;
}

/**
 * Takes time linear in the number of variables, but not in their length. A refusal names settings of the agent only to a caller
 * that may read them.
 */
export function resolveCall(
  call: ParsedBody,
  agent: AgentAtAdmission,
  isReadable: boolean,
  compared: ComparedFormats | null,
): ResolvedCall | BodyRefusal | FormatsToCompare {
  const resolved = resolveBody(call, agent, isReadable, compared);
  if ('asked' in resolved) return resolved;
  if ('kind' in resolved) return parameterRefusal(resolved);
  const { body, additions, responseFormat, list } = resolved;
  const supplied = suppliedVariables(body, agent);
  if ('code' in supplied) return supplied;
  const schema = responseFormat && callerSchemaOf(call);
  const question = questionOf(agent, supplied.variables, schema);
  const schemaText = schema?.json ?? null;
  return { ...supplied, additions, responseFormat, schemaText, list, question };
}

function callerSchemaOf(call: ParsedBody): CallerSchema | null {
  if (call.kind !== 'conversation' || call.schemaText === null) return null;
  return { json: call.schemaText, field: `${call.names.responseFormat}.schema` };
}

/** The variables of a body, or why the agent cannot be called with it. */
export function suppliedVariables(
  body: ExecuteBody,
  { requiredVariables: required }: Pick<AgentAtAdmission, 'requiredVariables'>,
): { readonly variables: Variables } | BodyRefusal {
  const missing = missingOf(required, body);
  if (missing.length > 0) {
    const message = `Required variables are missing: ${missing.join(', ')}.`;
    const fields = { missingVariables: missing, requiredVariables: required };
    return { code: 'MISSING_VARIABLES', message, fields };
  }
  return body.kind === 'variables' ? body : bodyFailure(body);
}

/** Null if the question was not answered yet. */
function examinedVariables(
  variables: Variables,
  question: VariablesQuestion | null,
  preparation: Preparation | null,
): Omit<VariablesAnswer, 'problem'> | VariablesProblem | null {
  if (!question) return { stored: asSent(variables), warnings: null };
  const { examined = null } = preparation ?? {};
  if (!examined || !isSameQuestion(examined.question, question)) return null;
  return examined.answer.problem ?? examined.answer;
}

function problemRefusal(
  problem: VariablesProblem,
  body: ParsedBody,
  list: string | null,
): BodyRefusal {
  if (body.kind === 'conversation' && problem.kind === 'caller-schema') {
    return parameterRefusal(callerSchemaRefusal(body, problem.problem));
  }
  if (body.kind === 'conversation' && problem.kind === 'list' && problem.variable === list) {
    return parameterRefusal(listRefusal(body, problem.problem));
  }
  return { code: 'INVALID_VARIABLES', ...variableProblemText(problem) };
}

function parameterRefusal({ message, parameter, parameterCode }: InvalidParameter): BodyRefusal {
  return { code: 'INVALID_REQUEST', message, fields: { parameter, parameterCode } };
}

function resolveBody(
  body: ParsedBody,
  agent: AgentAtAdmission,
  isReadable: boolean,
  compared: ComparedFormats | null,
): ResolvedConversation | InvalidParameter | FormatsToCompare {
  if (body.kind === 'invalid-parameter') return body;
  if (body.kind !== 'conversation') {
    return { body, additions: null, responseFormat: null, list: null };
  }
  const target: ConversationTarget = { ...agent, isReadable };
  return resolveConversation(body, target, toId('version', agent.versionId), compared);
}

/** A key sees what its issuer sees. */
function isVisible({ userId, role }: Caller, agent: AgentAtAdmission): boolean {
  return role !== null && sees({ userId, role }, agent);
}
