/** The lifecycle of an agent: the one table of allowed transitions. */

export const stages = ['Draft', 'Testing', 'Deployed', 'Paused'] as const;
export type Stage = (typeof stages)[number];

export const actions = [
  'enable-api',
  'deploy',
  'rollback',
  'disable',
  're-enable',
  'archive',
  'restore',
] as const;
export type Action = (typeof actions)[number];

export const visibilities = ['private', 'public'] as const;
export type Visibility = (typeof visibilities)[number];

/** The playground of the dashboard executes with private agents in Draft that have this tag. */
export const playgroundTag = 'playground';

/** The lifecycle state of an agent. `archived` is a flag beside the stage: hidden, API off. */
export interface LifecycleState {
  readonly stage: Stage;
  readonly archived: boolean;
  readonly apiEnabled: boolean;
}

const moves: Partial<Record<Action, { from: Stage; to: Stage }>> = {
  'enable-api': { from: 'Draft', to: 'Testing' },
  deploy: { from: 'Testing', to: 'Deployed' },
  rollback: { from: 'Deployed', to: 'Testing' },
  disable: { from: 'Deployed', to: 'Paused' },
  're-enable': { from: 'Paused', to: 'Deployed' },
};

/** The state after `action`, or `null` if the transition is not allowed. */
export function transition(at: LifecycleState, action: Action): LifecycleState | null {
  if (action === 'restore') return at.archived ? { ...at, archived: false } : null;
  if (at.archived) return null;
  if (action === 'archive') return at.stage === 'Deployed' ? null : { ...at, archived: true };
  const move = moves[action];
  if (!move || move.from !== at.stage) return null;
  return { stage: move.to, archived: false, apiEnabled: opens(move.to) };
}

/** The actions allowed from this state, in the order of the table. */
export function allowedActions(at: LifecycleState): Action[] {
  return actions.filter((action) => transition(at, action) !== null);
}

/** Only a Testing or a Paused agent can be deleted. */
export function deletable(at: LifecycleState): boolean {
  return at.stage === 'Testing' || at.stage === 'Paused';
}

/**
 * Whether API calls are admitted: Testing (limited) and Deployed, unless `apiEnabled` is false or the agent is
 * archived.
 */
export function callable(at: LifecycleState): boolean {
  return !at.archived && at.apiEnabled && opens(at.stage);
}

/** Whether `apiEnabled` has any effect in this state. */
export function switchable(at: LifecycleState): boolean {
  return callable({ ...at, apiEnabled: true });
}

function opens(stage: Stage): boolean {
  return stage === 'Testing' || stage === 'Deployed';
}

/** The orders of lists of agents. */
export const agentSorts = [
  '-createdAt',
  'createdAt',
  'name',
  '-name',
  '-updatedAt',
  'updatedAt',
  '-executions',
  'executions',
  '-failures',
  'failures',
  '-costUSD',
  'costUSD',
] as const;
export type AgentSort = (typeof agentSorts)[number];
