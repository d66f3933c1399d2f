import type { DeclaredAgent, DeclaredWorkflow } from '../../core/agent/declaration.ts';
import type { PlaceholderWarning } from '../../core/agent/prompt.ts';
import type { Compute } from '../../core/compute.ts';
import type { NewEvent } from '../../core/event/event.ts';
import { CallFailure, invalidRequest } from '../../core/failure.ts';
import type { Caller } from '../../core/people/caller.ts';
import { readClock } from '../../db/clock.ts';
import type { Trx } from '../../db/database.ts';
import { type AgentRow, findAgents, listVisibleAgents } from '../../store/agent/agents.ts';
import {
  findPromptsByName,
  findWorkflowsByName,
  type NamedPromptRow,
  type NamedWorkflowRow,
} from '../../store/agent/declaration.ts';
import { planAgent } from './plan-agent.ts';
import { type DeclaredPrompt, type PlannedVersion, planPrompt } from './plan-prompt.ts';
import { planWorkflow } from './plan-workflow.ts';

/** Plans the changes that make a workspace match a declaration. Planning takes no locks and writes nothing. */

export interface Declaration {
  readonly prompts?: readonly DeclaredPrompt[];
  readonly agents?: readonly DeclaredAgent[];
  readonly workflows?: readonly DeclaredWorkflow[];
}

type Kind = 'prompt' | 'agent' | 'workflow';

export interface Change {
  readonly kind: Kind;
  readonly name: string;
  readonly action: 'create' | 'change' | 'add-version' | 'pin' | 'move';
  readonly field?: string;
  readonly from?: unknown;
  readonly to?: unknown;
  /** Of a new version. */
  readonly warnings?: readonly PlaceholderWarning[];
}

/** One step of the plan. It makes the same calls as the API, with all their checks. `events` are written after all steps. */
type Work = (trx: Trx, events: NewEvent[]) => Promise<unknown>;

export interface Plan {
  readonly changes: readonly Change[];
  /** In order: prompts, then agents, then workflows. */
  readonly works: Readonly<Record<Kind, readonly Work[]>>;
  /** The agents that change, with the revision that the plan is based on. */
  readonly revisions: ReadonlyMap<string, number>;
}

/** What exists, by name, and what the plan creates. New things already have ids. */
export interface Planning {
  readonly trx: Trx;
  readonly compute: Compute;
  readonly caller: Caller;
  readonly nowMs: number;
  readonly prompts: Named<NamedPromptRow>;
  /** New versions, by prompt and label. */
  readonly versions: Map<string, PlannedVersion>;
  readonly agents: Named<AgentRow>;
  /** The stored ids of agents that are declared inactive: workflows may name them. */
  readonly mayBeInactive: Set<string>;
  readonly workflows: Named<NamedWorkflowRow>;
  readonly changes: Change[];
  readonly revisions: Map<string, number>;
  /** Adds a step to the plan. */
  readonly add: (work: Work) => void;
}

/** Throws a `CallFailure` that names the declared thing it concerns. */
export async function planDeclaration(
  { trx, compute }: Pick<Planning, 'trx' | 'compute'>,
  caller: Caller,
  { prompts = [], agents = [], workflows = [] }: Declaration,
): Promise<Plan> {
  requireUniqueNames('prompt', prompts);
  requireUniqueNames('agent', agents);
  requireUniqueNames('workflow', workflows);
  requireUniqueSlugs([...agents, ...workflows]);
  const works: Record<Kind, Work[]> = { prompt: [], agent: [], workflow: [] };
  const common = await readExisting(trx, caller, { prompts, agents, workflows });
  for (const one of prompts) await planned('prompt', one, (planning) => planPrompt(planning, one));
  for (const one of agents) await planned('agent', one, (planning) => planAgent(planning, one));
  for (const one of workflows) {
    await planned('workflow', one, (planning) => planWorkflow(planning, one));
  }
  const { changes, revisions } = common;
  return { changes, works, revisions };

  async function planned(
    kind: Kind,
    { name }: { readonly name: string },
    plan: (planning: Planning) => Promise<void>,
  ): Promise<void> {
    const add = (work: Work) =>
      works[kind].push((at, events) => withName(kind, name, () => work(at, events)));
    await withName(kind, name, () => plan({ ...common, compute, add }));
  }
}

/** Rows of one kind by name. A name must be unique only if something is looked up by it. */
export class Named<Row extends { readonly id: string; readonly name: string }> {
  readonly #rows: Row[];
  readonly #kind: string;
  constructor(kind: string, rows: readonly Row[]) {
    this.#kind = kind;
    this.#rows = [...rows];
  }

  all(name: string): Row[] {
    return this.#rows.filter((row) => row.name === name);
  }

  ofIds(ids: readonly string[]): Row[] {
    return this.#rows.filter((row) => ids.includes(row.id));
  }

  /** Null if there is none; a conflict if there are several. */
  find(name: string): Row | null {
    const [row = null, ...others] = this.all(name);
    if (others.length === 0) return row;
    const message = `There are ${others.length + 1} ${this.#kind}s with the name "${name}".`;
    throw new CallFailure('CONFLICT', message);
  }

  /** Adds a row, or replaces its earlier state. */
  put(row: Row): void {
    const at = this.#rows.findIndex(({ id }) => id === row.id);
    if (at < 0) this.#rows.push(row);
    else this.#rows[at] = row;
  }
}

/** Reads only what the declaration names: a workspace may have far more. */
async function readExisting(
  trx: Trx,
  caller: Caller,
  declared: Required<Declaration>,
): Promise<Omit<Planning, 'add' | 'compute'>> {
  const names = namesIn(declared);
  const visible = await listVisibleAgents(trx, caller, names.agents);
  const agents = await findAgents(trx, caller, visible);
  const prompts = await findPromptsByName(trx, caller, names.prompts);
  return {
    trx,
    caller,
    nowMs: await readClock(trx),
    versions: new Map(),
    changes: [],
    revisions: new Map(),
    prompts: new Named('prompt', inUse(prompts)),
    agents: new Named('agent', inUse(agents)),
    mayBeInactive: new Set(),
    workflows: new Named('workflow', await findWorkflowsByName(trx, caller, names.workflows)),
  };
}

/** Agents name prompts. Workflows name the agents of steps and fallbacks. */
function namesIn({ prompts, agents, workflows }: Required<Declaration>) {
  const called = workflows.flatMap(({ steps }) =>
    steps.flatMap(({ agent, fallback }) => [agent, fallback?.agent ?? agent]),
  );
  const names = (things: readonly { readonly name: string }[]) => things.map(({ name }) => name);
  return {
    prompts: [...new Set([...names(prompts), ...agents.map(({ prompt }) => prompt)])],
    agents: [...new Set([...names(agents), ...called])],
    workflows: names(workflows),
  };
}

/** Drops archived rows if another row has the same name. */
export function inUse<Row extends { readonly name: string; readonly archived: boolean }>(
  rows: readonly Row[],
): Row[] {
  const open = new Set(rows.filter(({ archived }) => !archived).map(({ name }) => name));
  return rows.filter(({ name, archived }) => !archived || !open.has(name));
}

function requireUniqueNames(kind: Kind, rows: readonly { readonly name: string }[]): void {
  const names = rows.map(({ name }) => name);
  const duplicate = names.find((name, at) => names.indexOf(name) !== at);
  if (duplicate === undefined) return;
  throw invalidRequest(`The ${kind} "${duplicate}" is declared twice.`);
}

function requireUniqueSlugs(
  rows: readonly { readonly slug?: string; readonly aliases?: readonly string[] }[],
): void {
  const declared = new Set<string>();
  const add = (kind: 'slug' | 'alias', name: string) => {
    if (declared.has(name)) throw invalidRequest(`The ${kind} "${name}" is declared twice.`);
    declared.add(name);
  };
  for (const { slug } of rows) if (slug !== undefined) add('slug', slug);
  for (const { aliases = [] } of rows) for (const alias of aliases) add('alias', alias);
}

/** Adds the name of the declared thing to a failure. */
async function withName<T>(kind: Kind, name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    const { code, message, fields } = error;
    throw new CallFailure(code, `The ${kind} "${name}": ${message}`, { ...fields });
  }
}
