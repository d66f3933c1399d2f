import { costLimitText } from '../../../core/agent/cost-limit.ts';
import type { WindowState } from '../../../core/agent/limits.ts';
import {
  type ExecuteBody,
  missingOf,
  type UnparsedBody,
  type Variables,
} from '../../../core/agent/variables.ts';
import {
  type CallFacts,
  type CallTarget,
  checkCall,
  type Refusal,
  type Replay,
  type Unprepared,
} from '../../../core/execution/check-call.ts';
import type { Preparation } from '../../../core/execution/decide.ts';
import { bodyFailure } from '../../../core/execution/refusal-messages.ts';
import { fromId } from '../../../core/id.ts';
import type { Labels } from '../../../core/labels.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { sees } from '../../../core/people/member.ts';
import type {
  StepDefinition,
  WorkflowDefinition,
  WorkflowInput,
} from '../../../core/workflow/definition.ts';
import { storedProblems } from './check-definition.ts';

/**
 * The admission decision on one call to start a workflow: a pure function of the locked rows. It changes the key's
 * counts in place. The order of the checks is part of the API and the same as for agents.
 */

export interface WorkflowAtStart {
  readonly enabled: boolean;
  /** The pinned version's definition; null if there is none. */
  readonly definition: WorkflowDefinition | null;
  /** The creators of the private agents of that version. */
  readonly privateCreators: readonly (string | null)[];
}

export interface StartFacts extends CallFacts {
  /** The workflow, if it exists in the caller's workspace. */
  readonly workflow: WorkflowAtStart | null;
  readonly call: {
    readonly body: ExecuteBody | UnparsedBody;
    readonly idempotencyKey: string | null;
    readonly digest: Preparation['digest'];
  };
  /** If it runs items of a run again: whether that is of another version, or was deleted meanwhile. */
  readonly rerun?: { readonly isOtherVersion: boolean; readonly isGone: boolean } | undefined;
  /** Whether all workers keep a limit of its cost. */
  readonly isLimitKept: boolean;
}

export type StartDecision =
  | Refusal
  | Replay
  | Unprepared
  | {
      readonly kind: 'accepted';
      readonly states: readonly WindowState[];
      readonly definition: WorkflowDefinition;
      readonly labels: Labels | null;
      /** With defaults filled in, as compact JSON. */
      readonly input: string;
      /** Names that the workflow does not declare. */
      readonly ignoredInput: readonly string[];
      /** The most that the run may cost, as decimal text; null for no limit. */
      readonly maxCostUsd: string | null;
    };

export function decideStart(facts: StartFacts): StartDecision {
  const { body, idempotencyKey, digest } = facts.call;
  const checked = checkCall(facts, targetOf(facts));
  if (checked.kind !== 'passed') return checked;
  const isHashed = idempotencyKey === null || digest !== null;
  if (body.kind === 'unparsed' || !isHashed) return { kind: 'unprepared' };
  const { found, states, refuse } = checked;
  const { definition } = found;
  if (!definition) throw new Error('A workflow without a version is not active.');
  if (facts.rerun?.isOtherVersion) return refuse('CONFLICT', otherVersion);
  if (facts.rerun?.isGone) return refuse('CONFLICT', 'The workflow run was deleted meanwhile.');
  const missing = missingInput(body, definition);
  if (missing) return refuse(missing.code, missing.message, missing.fields);
  if (body.kind !== 'variables') {
    const { code, message, fields } = bodyFailure(body);
    return refuse(code, message, fields);
  }
  const { maxCostUSD } = body;
  if (maxCostUSD !== undefined && !facts.isLimitKept) return refuse('UNAVAILABLE', limitNotKept);
  return {
    kind: 'accepted',
    states,
    definition,
    labels: body.labels,
    input: withDefaults(body.variables, definition.input),
    ignoredInput: undeclared([...body.variables.values.keys()], definition.input),
    maxCostUsd: maxCostUSD === undefined ? null : costLimitText(maxCostUSD),
  };
}

export const limitNotKept =
  'Workers of an earlier version, which do not keep "maxCostUSD" of workflow runs, still run. Try again once they have stopped.';

const otherVersion =
  'The workflow pins another version than that of this run. Pin that one, or run the whole workflow again.';

function targetOf({ caller, workflow }: StartFacts): CallTarget<WorkflowAtStart> {
  return {
    noun: 'workflow',
    found: workflow && seesAll(caller, workflow) ? workflow : null,
    isRecorded: false,
    unreached: ({ definition }) =>
      !definition || reaches(caller, definition)
        ? null
        : 'The API key is not valid for every agent of this workflow.',
    inactive: inactiveMessage,
    reused: 'This Idempotency-Key was used with another input, user, session, tags or metadata.',
  };
}

function inactiveMessage({ enabled, definition }: WorkflowAtStart): string | null {
  if (!enabled) return 'The workflow is disabled.';
  if (!definition) return 'The workflow has no version yet.';
  const [problem] = storedProblems(definition);
  return problem
    ? `The pinned version cannot start. Step "${problem.step}": ${problem.message}`
    : null;
}

/**
 * Why the input does not suffice to start a workflow run; null if it does. A default never satisfies a required name.
 */
export function missingInput(
  given: ExecuteBody,
  { input: { required } }: WorkflowDefinition,
): Pick<Refusal, 'code' | 'message' | 'fields'> | null {
  const missing = missingOf(required, given);
  if (missing.length === 0) return null;
  const message = `Required input is missing: ${missing.join(', ')}.`;
  return {
    code: 'MISSING_VARIABLES',
    message,
    fields: { missingInput: missing, requiredInput: required },
  };
}

/** Every agent that a step may call, including fallbacks. */
export function agentsOf(definition: WorkflowDefinition): string[] {
  const ofStep = ({ agentId, fallback }: StepDefinition) =>
    fallback && 'agentId' in fallback ? [agentId, fallback.agentId] : [agentId];
  return [...new Set(definition.steps.flatMap(ofStep))];
}

/** A caller who cannot see an agent cannot see the workflows that call it. */
function seesAll({ userId, role }: Caller, { privateCreators }: WorkflowAtStart): boolean {
  return privateCreators.every(
    (createdBy) => role !== null && sees({ userId, role }, { visibility: 'private', createdBy }),
  );
}

function undeclared(
  names: readonly string[],
  { required, optional, defaults }: WorkflowInput,
): string[] {
  const declared = new Set([...required, ...optional, ...Object.keys(defaults)]);
  return names.filter((name) => !declared.has(name));
}

function reaches(caller: Caller, definition: WorkflowDefinition): boolean {
  if (caller.allAgents) return true;
  return agentsOf(definition).every((agentId) => {
    const id = fromId('agent', agentId);
    return id !== null && caller.agentIds.includes(id);
  });
}

/** Supplied values win over defaults, except `null`, which counts as not supplied. */
function withDefaults({ values }: Variables, { defaults }: WorkflowInput): string {
  const given = new Map(values);
  for (const [name, value] of Object.entries(defaults)) {
    if ((given.get(name) ?? 'null') === 'null') given.set(name, JSON.stringify(value));
  }
  return `{${[...given].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}
