/** The lifecycle of an agent: the one table that decides which stage may follow which. */

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

/** Where an agent stands. `archived` is a flag beside the stage: hidden, API off. */
export interface Standing {
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

/** The standing after `action`, or `null` where the table has no such transition. */
export function transition(at: Standing, action: Action): Standing | null {
  if (action === 'restore') return at.archived ? { ...at, archived: false } : null;
  if (at.archived) return null;
  if (action === 'archive') return at.stage === 'Deployed' ? null : { ...at, archived: true };
  const move = moves[action];
  if (!move || move.from !== at.stage) return null;
  return { stage: move.to, archived: false, apiEnabled: opens(move.to) };
}

/** Every action that is possible from here, in the order of the table. */
export function allowedActions(at: Standing): Action[] {
  return actions.filter((action) => transition(at, action) !== null);
}

/** Only a Testing or a Paused agent can be deleted. */
export function deletable(at: Standing): boolean {
  return at.stage === 'Testing' || at.stage === 'Paused';
}

/** Whether calls with a key are let in: Testing (limited) and Deployed, unless switched off or archived. */
export function callable(at: Standing): boolean {
  return !at.archived && at.apiEnabled && opens(at.stage);
}

/** Whether the switch counts for anything. */
export function switchable(at: Standing): boolean {
  return callable({ ...at, apiEnabled: true });
}

function opens(stage: Stage): boolean {
  return stage === 'Testing' || stage === 'Deployed';
}
