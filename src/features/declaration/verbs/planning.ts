import type { FileKind } from '../../../core/agent/file-value.ts';
import type { PlaceholderWarning } from '../../../core/agent/prompt.ts';
import type { Compute } from '../../../core/compute.ts';
import type { NewEvent } from '../../../core/event/event.ts';
import { CallFailure } from '../../../core/failure.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { Trx } from '../../../db/database.ts';
import type { AgentRow } from '../../agents/statements/agents.ts';
import type { BudgetSettings } from '../../budgets/rules/budget-settings.ts';
import type { VersionInput } from '../../prompts/verbs/create-version.ts';
import type { NamedPromptRow, NamedWorkflowRow } from '../statements/declaration-statements.ts';

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
  readonly budgets: Named<PlannedBudget>;
  readonly workflows: Named<NamedWorkflowRow>;
  /** The tools of declared servers, by the names of the servers. */
  readonly toolServers: Map<string, ReadonlySet<string>>;
  /** From `deriveSealKey`. */
  readonly sealKey: Buffer;
  readonly changes: Change[];
  readonly revisions: Map<string, number>;
  /** Agents for which limits of cost are checked as they will be, not as they are stored. */
  readonly boundedAgents: Set<string>;
  /** Budgets that may count calls which they did not. */
  readonly widenedBudgets: PlannedBudget[];
  /** Adds a step to the plan. */
  readonly add: (work: Work) => void;
  /** Adds a check of what the whole plan leads to: steps may make it true together. */
  readonly addCheck: (check: () => Promise<void>) => void;
}

export type PlannedBudget = BudgetSettings & { readonly id: string; readonly revision: number };

/** An agent or a budget has changed since the plan was made. */
export class StalePlan extends Error {}

export type Kind = 'toolServer' | 'prompt' | 'agent' | 'budget' | 'workflow';

/**
 * One step of the plan. It makes the same calls as the API, with all their checks but those of what other steps may make true, which
 * `addCheck` has. `events` are written after all steps.
 */
export type Work = (trx: Trx, events: NewEvent[]) => Promise<unknown>;

/** Rows of one kind by name. A name must be unique only if something is looked up by it. */
export class Named<Row extends { readonly id: string; readonly name: string }> {
  readonly #rows: Row[];
  readonly #kind: string;
  constructor(kind: string, rows: readonly Row[]) {
    this.#kind = kind;
    this.#rows = [...rows];
  }

  get rows(): readonly Row[] {
    return this.#rows;
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

/** A new version. */
export type PlannedVersion = VersionInput & {
  readonly id: string;
  readonly label: string;
  readonly variables: readonly string[];
  readonly messageLists: readonly string[];
  readonly fileVariables: Readonly<Record<string, FileKind>>;
};
