import { callable } from '../../../core/agent/agent.ts';
import { CallFailure } from '../../../core/failure.ts';
import { fromId, toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { WorkflowDefinition } from '../../../core/workflow/definition.ts';
import type { Db } from '../../../db/database.ts';
import { type AgentRow, findAgents } from '../../agents/statements/agents.ts';
import {
  agentsOf,
  checkWorkflow as check,
  type StepAgent,
  type WorkflowProblem,
} from '../rules/check-definition.ts';
import type { DefinitionDraft } from '../rules/fill-definition.ts';

/** Validates definitions for a caller. Agents that the caller does not see count as missing. */

export interface Checked {
  readonly definition: WorkflowDefinition;
  readonly problems: readonly WorkflowProblem[];
  /** The stored ids of its agents. */
  readonly agentIds: readonly string[];
}

/** @param mayBeInactive the stored ids of agents that need not accept calls; archived ones are refused all the same */
export async function checkWorkflow(
  db: Db,
  caller: Caller,
  draft: DefinitionDraft,
  mayBeInactive?: ReadonlySet<string>,
): Promise<Checked> {
  return checkAgainst(await findAgents(db, caller, agentIdsOf(draft)), draft, mayBeInactive);
}

/** Validates against agents that are already read. */
export function checkAgainst(
  agents: readonly AgentRow[],
  draft: DefinitionDraft,
  mayBeInactive: ReadonlySet<string> = new Set(),
): Checked {
  const known = new Map(
    agents.map((agent) => [toId('agent', agent.id), stepAgent(agent, mayBeInactive)]),
  );
  return { ...check(draft, known), agentIds: agentIdsOf(draft) };
}

/** Throws if the definition has problems. */
export async function requireValidDefinition(
  db: Db,
  caller: Caller,
  draft: DefinitionDraft,
  mayBeInactive?: ReadonlySet<string>,
): Promise<Checked> {
  return sound(await checkWorkflow(db, caller, draft, mayBeInactive));
}

export function sound(checked: Checked): Checked {
  if (checked.problems.length > 0) throw invalidWorkflow(checked.problems);
  return checked;
}

/** The stored ids of all agents in a definition. */
export function agentIdsOf(draft: DefinitionDraft): string[] {
  return agentsOf(draft).flatMap((id) => fromId('agent', id) ?? []);
}

export function invalidWorkflow(problems: readonly WorkflowProblem[]): CallFailure {
  const [first] = problems;
  const where = first?.step == null ? '' : `Step "${first.step}": `;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const message = `${where}${first?.message ?? 'The workflow is not valid.'}${more}`;
  return new CallFailure('INVALID_WORKFLOW', message, { problems });
}

function stepAgent(agent: AgentRow, mayBeInactive: ReadonlySet<string>): StepAgent {
  const { name, requiredVariables } = agent;
  return { name, requiredVariables, inactive: inactive(agent, mayBeInactive) };
}

function inactive(agent: AgentRow, mayBeInactive: ReadonlySet<string>): string | null {
  if (agent.archived) return 'is archived';
  if (mayBeInactive.has(agent.id)) return null;
  if (agent.stage !== 'Deployed') return `is in stage ${agent.stage}, not Deployed`;
  return callable(agent) ? null : 'has its API disabled';
}
