import type { DeclaredAgent, DeclaredWorkflow } from '../../core/agent/declaration.ts';
import type { Caller } from '../../core/execution/caller.ts';
import { CallFailure } from '../../core/failure.ts';
import { type AgentRow, findAgents, listVisibleAgents } from '../../store/agent/agents.ts';
import {
  findPromptsByName,
  findWorkflowsByName,
  type NamedPromptRow,
  type NamedWorkflowRow,
} from '../../store/agent/declaration.ts';
import { readClock } from '../../store/connection/clock.ts';
import type { Trx } from '../../store/connection/database.ts';
import { planAgent } from './plan-agent.ts';
import { type DeclaredPrompt, type PlannedVersion, planPrompt } from './plan-prompt.ts';
import { planWorkflow } from './plan-workflow.ts';

/** What must be done for a workspace to be as it is declared: found out without a lock and without writing anything. */

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
}

/** A part of what must be done, by the calls that the API makes, with all their checks. */
type Work = (trx: Trx) => Promise<unknown>;

export interface Plan {
  readonly changes: readonly Change[];
  /** To be done in order: prompts, then agents, then workflows. */
  readonly works: Readonly<Record<Kind, readonly Work[]>>;
  /** The agents that change, and for which state of each the plan was made. */
  readonly revisions: ReadonlyMap<string, number>;
}

/** What there is, by name, and what there will be: things that are to be made have their identifiers already. */
export interface Ground {
  readonly trx: Trx;
  readonly caller: Caller;
  readonly nowMs: number;
  readonly prompts: Named<NamedPromptRow>;
  /** Versions to be made, by prompt and label. */
  readonly versions: Map<string, PlannedVersion>;
  readonly agents: Named<AgentRow>;
  readonly workflows: Named<NamedWorkflowRow>;
  readonly changes: Change[];
  readonly revisions: Map<string, number>;
  /** Adds to what must be done. */
  readonly add: (work: Work) => void;
}

/** Throws the `CallFailure` of what stands in the way, naming the thing of the file that it is about. */
export async function planDeclaration(
  trx: Trx,
  caller: Caller,
  { prompts = [], agents = [], workflows = [] }: Declaration,
): Promise<Plan> {
  refuseTwice('prompt', prompts);
  refuseTwice('agent', agents);
  refuseTwice('workflow', workflows);
  const works: Record<Kind, Work[]> = { prompt: [], agent: [], workflow: [] };
  const common = await readGround(trx, caller, { prompts, agents, workflows });
  for (const one of prompts) await planned('prompt', one, (ground) => planPrompt(ground, one));
  for (const one of agents) await planned('agent', one, (ground) => planAgent(ground, one));
  for (const one of workflows) {
    await planned('workflow', one, (ground) => planWorkflow(ground, one));
  }
  const { changes, revisions } = common;
  return { changes, works, revisions };

  async function planned(
    kind: Kind,
    { name }: { readonly name: string },
    plan: (ground: Ground) => Promise<void>,
  ): Promise<void> {
    const add = (work: Work) => works[kind].push((at) => naming(kind, name, () => work(at)));
    await naming(kind, name, () => plan({ ...common, add }));
  }
}

/** Things of one kind by their names, of which only what must be found by it needs to be the only one. */
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

  /** Null where there is none; a conflict where there are several. */
  find(name: string): Row | null {
    const [row = null, ...others] = this.all(name);
    if (others.length === 0) return row;
    const message = `There are ${others.length + 1} ${this.#kind}s with the name "${name}".`;
    throw new CallFailure('CONFLICT', message);
  }

  /** Adds a row, in place of an earlier state of it. */
  put(row: Row): void {
    const at = this.#rows.findIndex(({ id }) => id === row.id);
    if (at < 0) this.#rows.push(row);
    else this.#rows[at] = row;
  }
}

/** Only what the file names: a workspace may have far more. */
async function readGround(
  trx: Trx,
  caller: Caller,
  declared: Required<Declaration>,
): Promise<Omit<Ground, 'add'>> {
  const names = namesIn(declared);
  const seen = await listVisibleAgents(trx, caller, names.agents);
  const agents = await findAgents(trx, caller, seen);
  const prompts = await findPromptsByName(trx, caller.workspaceId, names.prompts);
  return {
    trx,
    caller,
    nowMs: await readClock(trx),
    versions: new Map(),
    changes: [],
    revisions: new Map(),
    prompts: new Named('prompt', inUse(prompts)),
    agents: new Named('agent', inUse(agents)),
    workflows: new Named('workflow', await findWorkflowsByName(trx, caller, names.workflows)),
  };
}

/** An agent names its prompt; a workflow the agents of its steps and of their fallbacks. */
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

/** An archived one counts only where there is no other of that name. */
export function inUse<Row extends { readonly name: string; readonly archived: boolean }>(
  rows: readonly Row[],
): Row[] {
  const open = new Set(rows.filter(({ archived }) => !archived).map(({ name }) => name));
  return rows.filter(({ name, archived }) => !archived || !open.has(name));
}

function refuseTwice(kind: Kind, rows: readonly { readonly name: string }[]): void {
  const names = rows.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return;
  const message = `The ${kind} "${twice}" is declared twice.`;
  throw new CallFailure('INVALID_REQUEST', message);
}

/** Says of which thing of the file a failure speaks. */
async function naming<T>(kind: Kind, name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    const { code, message, fields } = error;
    throw new CallFailure(code, `The ${kind} "${name}": ${message}`, { ...fields });
  }
}
